//! What a page of the book has: blocks of code, each with its language and what the words after it ask for.

use std::path::PathBuf;

use crate::workspace;

/// A page, by lines, and its blocks by the lines between their fences.
pub(super) struct Page {
    /// Its path in the repository.
    pub(super) name: String,
    pub(super) lines: Vec<String>,
    pub(super) blocks: Vec<Block>,
}

/// A block of code: ` ```LANGUAGE WORD … `.
pub(super) struct Block {
    pub(super) language: String,
    pub(super) words: Vec<String>,
    /// The lines between the fences, as indices into those of the page.
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Page {
    pub(super) fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(workspace().join(name)).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<Block> = None;
        for (at, line) in lines.iter().enumerate() {
            let Some(info) = line.strip_prefix("```") else { continue };
            match open.take() {
                Some(block) => blocks.push(Block { to: at, ..block }),
                None => {
                    let mut words = info.split_whitespace().map(str::to_owned);
                    let language = words.next().unwrap_or_default();
                    open = Some(Block { language, words: words.collect(), from: at + 1, to: at });
                }
            }
        }
        assert!(open.is_none(), "{name}: a block that does not end");
        Page { name: name.to_owned(), lines, blocks }
    }

    /// The README, and every page under `docs/`.
    pub(super) fn all() -> Vec<Self> {
        let mut names = vec!["README.md".to_owned()];
        let mut folders = vec![PathBuf::from("docs")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(workspace().join(&folder)).unwrap() {
                let path = folder.join(entry.unwrap().file_name());
                if workspace().join(&path).is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    names.push(path.to_str().unwrap().replace('\\', "/"));
                }
            }
        }
        names.sort();
        names.iter().map(|name| Page::read(name)).collect()
    }

    pub(super) fn text(&self, block: &Block) -> String {
        self.lines[block.from..block.to].iter().map(|line| format!("{line}\n")).collect()
    }

    /// Where a reader finds a line: `docs/gates.md:12`.
    pub(super) fn place(&self, line: usize) -> String {
        format!("{}:{}", self.name, line + 1)
    }

    /// The lines outside of blocks.
    pub(super) fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_code = |at: usize| self.blocks.iter().any(|block| (block.from - 1..=block.to).contains(&at));
        self.lines
            .iter()
            .enumerate()
            .filter(move |(at, _)| !is_code(*at))
            .map(|(at, line)| (at, line.as_str()))
    }

    /// The code between single backticks, outside of blocks, with its line.
    pub(super) fn spans(&self) -> impl Iterator<Item = (usize, &str)> {
        self.prose().flat_map(|(at, line)| line.split('`').skip(1).step_by(2).map(move |span| (at, span)))
    }
}

impl Block {
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|other| other == word)
    }

    /// The value of a word `NAME=VALUE`.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}
