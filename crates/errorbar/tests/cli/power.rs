//! `errorbar power`.

use serde_json::Value;

use crate::eval::Logs;
use crate::{Folder, check_text, errorbar, transcript, workspace};

/// Runs several plans, and compares all of them with one snapshot.
fn plans(name: &str, commands: &[&str]) {
    let run = |command: &&str| {
        let args: Vec<&str> = std::iter::once("power").chain(command.split_whitespace()).collect();
        transcript(&args, &errorbar(&workspace(), &args).output().unwrap())
    };
    check_text(name, &commands.iter().map(run).collect::<Vec<_>>().join("\n"));
}

/// The published example: 969 by the normal distribution, 971 by t; 13.27 % and 7.57 % of 198.
#[test]
fn published_figures() {
    plans(
        "power_published",
        &[
            "--difference 0.03 --sd 0.3333333333333333",
            "--difference 0.03 --sd 0.3333333333333333 --method normal",
            "--samples 198 --sd 0.3333333333333333 --sd-within 0.408248290463863 --epochs 1,10 --method normal",
        ],
    );
}

#[test]
fn the_one_that_is_left_out_is_computed() {
    plans(
        "power_paired",
        &[
            "--difference 0.05 --sd 0.4",
            "--difference -0.05 --sd 0.4 --power 0.9 --alpha 0.01",
            "--samples 500 --sd 0.4",
            "--samples 500 --difference 0.05 --sd 0.4",
            "--samples 500 --difference 0.5 --sd 0.4",
            "--difference 0.05 --sd 0.4 --design-effect 2",
            "--difference 0.05 --sd 0.45 --correlation 0.6",
            "--difference 0.05 --share 0.8 --correlation 0.6",
        ],
    );
    plans(
        "power_flips",
        &[
            "--p10 0.06 --p01 0.09",
            "--p10 0.06 --p01 0.09 --samples 1000",
            "--p10 0.06 --difference 0.03 --method mcnemar_exact",
            "--p01 0.09 --difference 0.03 --method normal",
            "--p10 0.06 --samples 300",
            "--p10 0.06 --p01 0.09 --design-effect 1.5",
            "--p10 0.1 --p01 0.1001",
        ],
    );
    plans(
        "power_unpaired",
        &[
            "--difference 0.05 --sd 0.4 --unpaired",
            "--samples 500 --sd 0.4 --sd-within 0.2 --epochs 3 --unpaired",
            "--difference 0.05 --share 0.8 --unpaired",
            "--samples 500 --share 0.8 --unpaired",
        ],
    );
    plans(
        "power_width",
        &[
            "--width 0.04",
            "--width 0.04 --share 0.9",
            "--width 0.04 --share 0.9 --alpha 0.1",
            "--width 0.1 --sd 0.4",
            "--width 0.1 --sd 0.4 --unpaired",
            "--width 0.1 --share 0.8 --unpaired",
            "--width 0.05 --p10 0.06 --p01 0.09",
            "--samples 200 --share 0.8",
        ],
    );
}

#[test]
fn curves_are_tables() {
    plans(
        "power_curves",
        &[
            "--difference 0.01..0.10 --p10 0.05",
            "--samples 100..500 --difference 0.03,0.05 --sd 0.4",
            "--samples 4,10,100 --p10 0.05",
            "--width 0.02..0.1:0.02 --share 0.7",
            "--difference 0.05 --sd 0.4 --power 0.8,0.9,0.95",
        ],
    );
}

/// Epochs against samples: the fewest calls, what a finite dataset forces, what samples cost.
#[test]
fn epochs_against_samples() {
    plans(
        "power_epochs",
        &[
            "--difference 0.03 --sd 0.33 --sd-within 0.4",
            "--difference 0.03 --sd 0.33 --sd-within 0.4 --max-samples 1500",
            "--difference 0.03 --sd 0.33 --sd-within 0.4 --max-samples 500",
            "--difference 0.03 --sd 0.33 --sd-within 0.4 --call-cost 0.002 --sample-cost 0.5",
            "--width 0.05 --sd 0.33 --sd-within 0.4 --max-samples 800",
            "--p10 0.06 --p01 0.09 --max-samples 500",
            "--samples 198 --sd 0.33 --sd-within 0.4",
            "--samples 198 --difference 0.1 --sd 0.33 --sd-within 0.4 --epochs 1..4",
        ],
    );
}

#[test]
fn formats() {
    for format in ["json", "csv", "markdown", "latex"] {
        plans(
            &format!("power_{format}"),
            &[
                &format!("--difference 0.05 --sd 0.4 --format {format}"),
                &format!("--difference 0.05,0.1 --p10 0.05 --format {format}"),
            ],
        );
    }
}

#[test]
fn json_is_valid_by_the_schema() {
    let text = std::fs::read_to_string(workspace().join("docs/schema/power.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let printed = errorbar(&workspace(), &["log", "schema", "--of", "power"]).output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&printed.stdout).unwrap(), schema);
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let plan = |command: &str| -> Value {
        let args: Vec<&str> =
            ["power", "--format", "json"].into_iter().chain(command.split_whitespace()).collect();
        serde_json::from_slice(&errorbar(&workspace(), &args).output().unwrap().stdout).unwrap()
    };
    for command in [
        "--difference 0.05 --sd 0.4",
        "--p10 0.06 --p01 0.09",
        "--samples 4,10,100 --p10 0.05",
        "--width 0.04",
        "--difference 0.03 --sd 0.33 --sd-within 0.4 --max-samples 1500 --call-cost 1",
        "--from examples/quiz.csv",
    ] {
        let output = plan(command);
        let problems: Vec<String> =
            schema.iter_errors(&output).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(problems.is_empty(), "{command}: {problems:#?}");
    }
    let one = plan("--difference 0.05 --sd 0.4");
    for (path, wrong) in
        [("/samples", "504".into()), ("/method", "guess".into()), ("/power", 2.into()), ("/sd", Value::Null)]
    {
        let mut wrong_one = one.clone();
        *wrong_one.pointer_mut(path).unwrap() = wrong;
        assert!(!schema.is_valid(&wrong_one), "{path}");
    }
}

#[test]
fn what_is_missing_or_contradicts() {
    plans(
        "power_missing",
        &[
            "",
            "--difference 0.03",
            "--samples 500",
            "--sd 0.4",
            "--difference 0.03 --sd-within 0.4",
            "--difference 0.03 --share 0.8",
            "--difference 0.03 --sd 0.4 --epochs 4",
            "--cluster passage --difference 0.03 --sd 0.4",
        ],
    );
    plans(
        "power_contradicts",
        &[
            "--difference 0.03 --width 0.04 --sd 0.4",
            "--width 0.04 --power 0.9",
            "--width 0.04 --samples 500",
            "--difference 0.03 --samples 500 --power 0.8 --sd 0.4",
            "--p10 0.1 --p01 0.2 --samples 500 --power 0.8",
            "--p10 0.1 --p01 0.2 --difference 0.2",
            "--difference 0.03 --sd 0.4 --share 0.8",
            "--difference 0.03 --sd 0.4 --p10 0.1",
            "--p10 0.1 --p01 0.2 --unpaired",
            "--difference 0.03 --sd 0.4 --unpaired --correlation 0.5",
            "--difference 0.03 --sd 0.4 --method mcnemar_mid",
            "--p10 0.1 --p01 0.2 --epochs 2",
            "--difference 0.03 --sd 0.4 --from examples/quiz.csv",
            "--design-effect 2 --cluster passage --from examples/quiz.csv",
        ],
    );
}

#[test]
fn what_makes_no_sense() {
    plans(
        "power_nonsense",
        &[
            "--difference 0 --sd 0.4",
            "--p10 0.1 --p01 0.1",
            "--difference 0.03 --sd 0.4 --power 0.05",
            "--difference 0.03 --sd 0.4 --power 1",
            "--difference 0.03 --sd 0.4 --alpha 0",
            "--difference 0.03 --sd 0.4 --alpha 1.5",
            "--difference 0.03 --sd -0.4",
            "--difference 0.03 --sd 0",
            "--difference 0.03 --sd 0.4 --sd-within -1",
            "--difference 0.03 --sd 0.4 --design-effect 0",
            "--difference 0.03 --sd 0.4 --epochs 0",
            "--difference 0.03 --sd 0.4 --correlation 2",
            "--p10 0.7 --p01 0.4",
            "--p10 1.2 --p01 0",
            "--p10 0.1 --difference 0.9",
            "--difference 0.5 --share 0.8 --unpaired",
            "--width 0 --sd 0.4",
            "--width 0.1 --share 1.1",
            "--samples 1 --sd 0.4",
            "--samples 0 --sd 0.4",
            "--samples 3 --p10 0",
            "--difference 1e-9 --sd 0.4",
            "--difference 0.1..0.05 --sd 0.4",
            "--difference nan --sd 0.4",
            "--samples 1.5 --sd 0.4",
            "--difference 0..1:0.0001 --sd 0.4",
            "--difference 0.001..1:0.001 --samples 1..1000:1 --sd 0.4",
            "--difference 0.03 --sd 0.4 --max-samples 0",
        ],
    );
}

/// Two models of three samples each on four passages, and a third run of other samples.
fn runs() -> Folder {
    let table = |first: usize, epochs: u32, right: &dyn Fn(usize, u32) -> bool| {
        let rows = (first..first + 24).flat_map(|id| {
            (1..=epochs).map(move |epoch| {
                let score = u8::from(right(id, epoch));
                format!("q{id},{epoch},{score},p{}\n", id / 3)
            })
        });
        format!("id,epoch,score,passage\n{}", rows.collect::<String>())
    };
    let base = |id: usize, _: u32| !id.is_multiple_of(5);
    let other = |id: usize, _: u32| id % 7 != 1 && id != 10;
    let noisy = |id: usize, epoch: u32| (id * 7 + epoch as usize * 5) % 11 > 2;
    let noisier = |id: usize, epoch: u32| (id * 5 + epoch as usize * 7) % 13 > 4;
    Folder::new(&[
        ("base.csv", &table(0, 1, &base)),
        ("other.csv", &table(0, 1, &other)),
        ("later.csv", &table(20, 1, &other)),
        ("elsewhere.csv", &table(100, 1, &other)),
        ("noisy.csv", &table(0, 4, &noisy)),
        ("noisier.csv", &table(0, 2, &noisier)),
        ("equal.csv", &table(0, 1, &|_, _| true)),
        ("one.csv", "id,score\n1,1\n"),
        ("two.csv", "id,alpha,beta\na,1,0\nb,0,0\nc,1,1\n"),
        ("models.csv", "id,model,score\na,x,1\na,y,0\nb,x,0\nb,y,1\nc,x,1\nc,y,1\nd,x,0\nd,y,1\n"),
        ("nested.jsonl", "{\"id\": \"a\", \"score\": {\"x\": 1}}\n{\"id\": \"b\", \"score\": {\"x\": 0}}\n"),
    ])
}

fn from_runs(name: &str, commands: &[&str]) {
    let folder = runs();
    let run = |command: &&str| {
        let args: Vec<&str> = std::iter::once("power").chain(command.split_whitespace()).collect();
        transcript(&args, &folder.run(&args))
    };
    check_text(name, &commands.iter().map(run).collect::<Vec<_>>().join("\n"));
}

#[test]
fn variances_are_those_of_runs() {
    from_runs(
        "power_from_two",
        &[
            "--from base.csv other.csv",
            "--from base.csv other.csv --difference 0.1",
            "--from base.csv other.csv --difference 0.1 --cluster passage",
            "--from base.csv other.csv --width 0.1",
            "--from base.csv other.csv --difference 0.1 --unpaired",
            "--from base.csv later.csv --samples 100",
            "--from noisy.csv noisier.csv --difference 0.1",
            "--from noisy.csv noisier.csv --samples 100 --epochs 4",
            "--from noisy.csv noisier.csv --difference 0.1 --unpaired --epochs 1",
            "--from models.csv --by model --samples 50",
        ],
    );
    from_runs(
        "power_from_one",
        &[
            "--from base.csv",
            "--from base.csv --width 0.1 --cluster passage",
            "--from base.csv --difference 0.1",
            "--from noisy.csv --difference 0.1 --correlation 0.5 --epochs 1,4",
            "--from noisy.csv --width 0.1",
            "--from two.csv --scorer alpha",
        ],
    );
}

#[test]
fn runs_that_do_not_show_it() {
    from_runs(
        "power_from_bad",
        &[
            "--from base.csv elsewhere.csv",
            "--from base.csv base.csv",
            "--from base.csv nothing.csv",
            "--from one.csv",
            "--from equal.csv",
            "--from equal.csv --difference 0.1 --unpaired",
            "--from base.csv equal.csv --epochs 4 --difference 0.1",
            "--from two.csv --score-column gamma",
            "--from nested.jsonl",
            "--from base.csv --cluster topic",
            "--from base.csv other.csv --correlation 0.5 --difference 0.1",
            "--from base.csv other.csv noisy.csv",
            "--from .",
        ],
    );
}

/// Three models of the almanac: logs, and handles of them.
#[test]
fn logs_show_it_too() {
    let logs = Logs::new();
    logs.run(&workspace(), &["eval", "examples/almanac/almanac.toml"]);
    let log = logs.only();
    let log = log.to_str().unwrap();
    logs.check("power_log", &workspace(), &["power", "--from", log, "--width", "0.05"]);
    logs.check("power_log_cluster", &workspace(), &["power", "--from", log, "--cluster", "nothing"]);
}
