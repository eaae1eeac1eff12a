//! How much memory the machine has: that of a container, where one is limited.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The memory of this machine in bytes, or what a control group (version 1 or 2) leaves of it; none if it is not known,
/// as on systems other than Linux.
pub fn machine_memory() -> Option<u64> {
    static MEMORY: LazyLock<Option<u64>> = LazyLock::new(|| memory_below(Path::new("/")));
    *MEMORY
}

/// The same of a system whose files are below this folder.
fn memory_below(root: &Path) -> Option<u64> {
    let text = |path: &str| fs::read_to_string(root.join(path)).ok();
    let meminfo = text("proc/meminfo")?;
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    let groups = text("proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let (folder, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        };
        let is_memory = controllers.is_empty() || controllers.split(',').any(|name| name == "memory");
        // Within a container the path is that of the host, and only the top is there.
        let groups = Path::new(group.trim_start_matches('/')).ancestors().filter(move |_| is_memory);
        groups.filter_map(move |group| {
            let path = root.join(folder).join(group).join(file);
            fs::read_to_string(path).ok()?.trim().parse::<u64>().ok()
        })
    });
    Some(limits.fold(total, u64::min))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory of a system with these files.
    fn memory(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        memory_below(root.path())
    }

    #[test]
    fn a_control_group_limits_the_memory() {
        let machine = ("proc/meminfo", "MemFree: 1 kB\nMemTotal:       8388608 kB\n");
        let (second, first) =
            (("proc/self/cgroup", "0::/a/b\n"), ("proc/self/cgroup", "4:cpu:/\n7:memory:/docker/x\n"));
        assert_eq!(memory(&[]), None);
        assert_eq!(memory(&[machine]), Some(8 << 30));
        assert_eq!(memory(&[machine, second, ("sys/fs/cgroup/a/b/memory.max", "max\n")]), Some(8 << 30));
        let above = ("sys/fs/cgroup/a/memory.max", "2147483648\n");
        assert_eq!(memory(&[machine, second, above]), Some(2 << 30));
        assert_eq!(memory(&[machine, second, ("sys/fs/cgroup/memory.max", "1073741824\n")]), Some(1 << 30));
        let old = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        assert_eq!(memory(&[machine, first, (old, "3221225472\n")]), Some(3 << 30));
        assert_eq!(memory(&[machine, first, (old, "9223372036854771712\n")]), Some(8 << 30), "none");
    }
}
