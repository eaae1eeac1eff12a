//! `errors` in task files: how errors and intervals are computed.

use errorbar_eval::{built_in_registry, parse_task_file};

use crate::task_files::{check, folder};

#[test]
fn how_errors_are_computed() {
    const TASK: &str = "dataset = { path = 'fine.csv', input = 'question', target = 'answer', metadata = ['a', 'b'] }\nscorer = 'includes'\n";
    let (_folder, path) = folder();
    let plan = |errors: &str| {
        let task = parse_task_file(&format!("{TASK}errors = {errors}"), &path, &built_in_registry());
        task.expect(errors).error_plan().to_string()
    };
    assert_eq!(plan("{}"), "{}");
    assert_eq!(
        plan("{ cluster = 'a', method = 'cr2', interval = 't', level = 0.9, range = [0, 10], draws = 500 }"),
        r#"{"cluster":"a","method":"CR2","interval":"t","level":0.9,"draws":500,"range":[0.0,10.0]}"#
    );
    assert_eq!(plan("{ cluster = ['a', 'b'] }"), r#"{"cluster":["a","b"]}"#);
    assert_eq!(
        plan("{ interval = 'beta(prior=[1, 1])', side = 'upper', population = 1319 }"),
        r#"{"interval":"beta(prior=[1, 1])","side":"upper","population":1319}"#
    );

    let with = |errors: &str, expected: &[&str]| check(&format!("{TASK}{errors}"), expected);
    with(
        "errors = 'CR2'",
        &["3:10: `errors`: expected a table such as { cluster = \"passage\" }, found the string \"CR2\""],
    );
    with(
        "errors = { cluster = 5, method = 2, interval = [], level = '0.9', draws = 1.5, range = [1] }",
        &[
            "3:22: `cluster`: expected a metadata key such as \"passage\", or a list of two, found 5",
            "3:34: `method`: expected a method in quotes, such as \"CR2\", found 2",
            "3:48: `interval`: expected a method in quotes, such as \"t\", found an empty list",
            "3:60: `level`: expected a number such as 0.95, found the string \"0.9\"",
            "3:75: `draws`: expected an integer, found 1.5",
            "3:88: `range`: expected the lowest and the highest score, such as [0, 10], found a list",
        ],
    );
    with(
        "[errors]\nclusters = ''\nmethod = 'CR22'\ninterval = 'bootstrapt'\nlevel = 95\ndraws = 5\nrange = [5, 1]",
        &[
            "4:1: unknown key `clusters`; did you mean `cluster`?",
            "4:12: `clusters`: expected a metadata key such as \"passage\", or a list of two, found an empty string",
            "5:10: `method`: expected one of iid, CR0, CR1, CR2, CR3, jackknife, bootstrap, found \"CR22\"; did you mean `CR2`?",
            "6:12: `interval`: expected one of auto, wilson, modified_wilson, clopper_pearson, jeffreys, beta, t, bootstrap, bca, bootstrap_t, exact, wild, found \"bootstrapt\"; did you mean `bootstrap`?",
            "7:9: the level must lie between 0 and 1 (both excluded), found 95; for 95 % write 0.95",
            "8:9: the number of draws must lie between 100 and 10000000, found 5",
            "9:9: the range must be two numbers, the lower one first, found 5 and 1",
        ],
    );
    with(
        "[errors]\ninterval = 'beta(prior=[0, 1])'\nside = 'uper'\npopulation = 0",
        &[
            "4:12: `interval`: the prior of beta must be two numbers above 0, such as [1, 1], found [0, 1]",
            "5:8: `side`: expected one of two-sided, lower, upper, found \"uper\"; did you mean `upper`?",
            "6:14: the population must be the number of samples of the whole benchmark, found 0",
        ],
    );
    with(
        "errors = { side = 2, population = '10' }",
        &[
            "3:19: `side`: expected \"two-sided\", \"lower\" or \"upper\", found 2",
            "3:35: `population`: expected the number of samples of the whole benchmark, such as 1319, found the string \"10\"",
        ],
    );
    with(
        "errors = { cluster = 'passage', method = 'iid' }",
        &["3:10: errors of independent samples (iid) cannot be clustered; leave out one of the two"],
    );
    with(
        "errors = { cluster = ['a', 'b', 'c'] }",
        &["3:22: samples can be clustered by at most 2 keys, found 3"],
    );
    with(
        "cluster = 'passage'",
        &["3:1: unknown key `cluster`; it is a key of the table `errors`: errors = { cluster = …, … }"],
    );
}
