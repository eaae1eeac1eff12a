use super::*;
use errorbar_core::Score;

/// Samples with the epochs of their scores, in clusters of two.
fn columns(samples: &[(&str, &[f64])]) -> ScoreColumns {
    let mut columns = ScoreColumns::new(["s"]);
    for (at, (id, epochs)) in samples.iter().enumerate() {
        for (epoch, value) in epochs.iter().enumerate() {
            let row = columns.push(*id, epoch as u32 + 1).metadata("c", at / 2);
            row.score("s", Score::new(*value)).unwrap();
        }
    }
    columns
}

fn assert_close(got: f64, want: f64) {
    assert!((got - want).abs() < 1e-12, "{got} {want}");
}

const QUIZ: [(&str, &[f64]); 4] =
    [("a", &[1., 1., 0.]), ("b", &[0., 0., 1.]), ("c", &[1., 1., 1.]), ("d", &[0., 0., 0.])];

/// The published figures of four samples with three epochs.
#[test]
fn one_run() {
    let columns = columns(&QUIZ);
    let pilot = PilotScores::of_one(PilotSide::new(&columns, "s"), &[]).unwrap();
    assert_eq!((pilot.samples, pilot.epochs, pilot.share), (4, Some(3), None));
    assert_close(pilot.variance, 5.0 / 27.0);
    assert_close(pilot.between.unwrap(), 7.0 / 54.0);
    assert_close(pilot.within.unwrap(), 1.0 / 6.0);
}

/// The variance of the difference of means is larger by what the epochs of both sides add: that is subtracted.
#[test]
fn epochs_do_not_count_as_samples() {
    let base = columns(&QUIZ);
    let other = columns(&[("b", &[1., 0.]), ("c", &[1., 1.]), ("d", &[0., 1.]), ("e", &[1., 1.])]);
    let (base, other) = (PilotSide::new(&base, "s"), PilotSide::new(&other, "s"));
    let pilot = PilotScores::of_pairs(base, other, &[]).unwrap();
    assert_eq!((pilot.samples, pilot.only_base, pilot.only_other, pilot.epochs), (3, 1, 1, None));
    // Differences 1/6, 0, 1/2: mean 2/9, variance (1/18² + 2²/9² + 5²/18²)/2.
    assert_close(pilot.mean, 2.0 / 9.0);
    assert_close(pilot.variance, 7.0 / 108.0);
    // Within: 1/3, 0, 0 of three epochs; 1/2, 0, 1/2 of two.
    assert_close(pilot.within.clone().unwrap(), 1.0 / 9.0 + 1.0 / 3.0);
    assert_eq!(pilot.between, Ok(0.0), "7/108 − 1/27 − 1/6 is below 0");
    let unpaired = PilotScores::of_two(base, other, &[]).unwrap();
    assert_eq!(unpaired.samples, 4);
    assert_close(unpaired.within.unwrap(), 0.5 * (1.0 / 6.0 + 0.25));
    let many = columns(&[("b", &[9., 9.]), ("c", &[1., 1.]), ("d", &[0., 1.])]);
    let pilot = PilotScores::of_pairs(base, PilotSide::new(&many, "s"), &[]).unwrap();
    assert_close(pilot.between.unwrap(), pilot.variance - 1.0 / 27.0 - 1.0 / 12.0);
}

#[test]
fn pairs_of_zeros_and_ones() {
    let base = columns(&[("a", &[1.]), ("b", &[1.]), ("c", &[0.]), ("d", &[0.]), ("e", &[1.])]);
    let other = columns(&[("a", &[1.]), ("b", &[0.]), ("c", &[1.]), ("d", &[1.]), ("e", &[1.])]);
    let sides = (PilotSide::new(&base, "s"), PilotSide::new(&other, "s"));
    let pilot = PilotScores::of_pairs(sides.0, sides.1, &[]).unwrap();
    assert_eq!((pilot.flips, pilot.share), (Some((0.2, 0.4)), Some(0.6)));
    // numpy.corrcoef
    assert_close(pilot.correlation.unwrap(), -0.408_248_290_463_863);
    assert!(matches!(pilot.within, Err(Undefined::Other(_))), "one epoch has no variance");
}

/// The effect is that of the difference: both sides vary by cluster, and their difference does not.
#[test]
fn clusters_of_the_difference() {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let samples = |shift: [f64; 8]| -> Vec<(&str, [f64; 1])> {
        ids.iter().enumerate().map(|(at, id)| (*id, [(at / 2) as f64 + shift[at]])).collect()
    };
    let table = |samples: &[(&str, [f64; 1])]| {
        columns(&samples.iter().map(|(id, epochs)| (*id, epochs.as_slice())).collect::<Vec<_>>())
    };
    let (base, other) = (samples([0.0; 8]), samples([0.3, -0.1, 0.2, 0.1, -0.2, 0.3, 0.2, 0.2]));
    let (base, other) = (table(&base), table(&other));
    let clusters = ["c".to_owned()];
    let side = PilotSide::new(&base, "s");
    let alone = PilotScores::of_one(side, &clusters).unwrap();
    // Equal pairs: each cluster counts as one sample.
    assert_close(alone.design_effect.unwrap(), 7.0 / 3.0);
    assert_eq!(alone.clusters, [4]);
    let pilot = PilotScores::of_pairs(side, PilotSide::new(&other, "s"), &clusters).unwrap();
    assert!(pilot.design_effect.unwrap() < 1.0, "{pilot:?}");
}

#[test]
fn scores_that_show_nothing() {
    let base = columns(&QUIZ);
    let one = columns(&[("a", &[1., 0.])]);
    let others = columns(&[("x", &[1.]), ("y", &[0.])]);
    let base = PilotSide::new(&base, "s");
    assert!(matches!(PilotScores::of_one(PilotSide::new(&one, "s"), &[]), Err(PowerError::Pilot(_))));
    let other = PilotSide::new(&others, "s");
    assert_eq!(PilotScores::of_pairs(base, other, &[]), Err(PowerError::NoCommonSample));
    assert!(matches!(PilotScores::of_pairs(base, PilotSide::new(&one, "s"), &[]), Err(PowerError::Pilot(_))));
    assert!(matches!(PilotScores::of_one(PilotSide::new(&others, "t"), &[]), Err(PowerError::Scores(_))));
    let no_key = PilotScores::of_one(other, &["d".to_owned()]);
    assert!(matches!(no_key, Err(PowerError::Scores(errorbar_core::Error::MissingKey { .. }))), "{no_key:?}");
    assert!(
        matches!(PilotScores::of_one(other, &["c".to_owned()]), Err(PowerError::Pilot(_))),
        "one cluster"
    );
}
