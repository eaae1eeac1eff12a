//! Plans as a table for people, and as data.

use errorbar_analysis::{PlannedDesign, PlannedGoal, PlannedRow, Plans, short};
use errorbar_inference::{PowerDesign, PowerMethod};

use crate::{Json, Listing, ListingCell, Render, TerminalTable, clean, wrap};

/// Plans in all formats.
#[derive(Clone, Copy, Debug)]
pub struct PlansView<'a>(pub &'a Plans);

impl PlansView<'_> {
    /// The method of the test, or of the interval.
    fn method(self) -> PowerMethod {
        let Plans { goal, design, .. } = self.0;
        if goal.is_width() { design.plan.interval_method() } else { design.plan.test_method() }
    }

    /// Lines for above the table.
    pub fn heading(self) -> Vec<String> {
        heading(&self.0.goal, &self.0.design, self.method(), &self.0.rows)
    }

    /// The table for people: what is the same in all rows is in the heading.
    pub fn listing(self) -> Listing {
        listing(&self.0.rows, &self.0.goal)
    }

    /// A row per plan, for programs.
    pub fn data(self) -> Listing {
        data(&self.0.rows, &self.0.design, self.method())
    }

    /// As JSON: one plan is one object, several are an array.
    pub fn to_json(self) -> String {
        let list = Json.listing_text(&self.data());
        if self.0.rows.len() != 1 {
            return list;
        }
        let object = serde_json::from_str::<Vec<serde_json::Value>>(&list).unwrap_or_default();
        object.first().map(|row| format!("{row:#}\n")).unwrap_or(list)
    }

    /// As a terminal shows it, in lines of this width.
    pub fn to_text(self, table: &TerminalTable, width: usize) -> String {
        let lines = |text: &String| -> String {
            wrap(&clean(text), width).into_iter().map(|line| line + "\n").collect()
        };
        self.heading().iter().map(lines).collect::<String>() + &table.listing_text(&self.listing())
    }
}

/// What is planned, and where variances are from.
fn heading(
    goal: &PlannedGoal,
    design: &PlannedDesign,
    method: PowerMethod,
    rows: &[PlannedRow],
) -> Vec<String> {
    let plan = &design.plan;
    let what = match plan.design {
        PowerDesign::Mean(_) | PowerDesign::Share(_) if design.models == 1 => "one model",
        PowerDesign::TwoMeans(_) | PowerDesign::TwoShares(_) => "two models, unpaired",
        _ => "two models, paired",
    };
    let method = match (method, goal.is_width()) {
        (PowerMethod::T, true) => "t interval",
        (PowerMethod::T, false) => "t test",
        (PowerMethod::Normal, true) => "normal interval",
        (PowerMethod::Normal, false) => "normal test",
        (PowerMethod::McNemarMid, _) => "McNemar's test (mid-p)",
        (PowerMethod::McNemarExact, _) => "McNemar's exact test",
        (PowerMethod::Score, _) => "score test of two shares",
        (PowerMethod::Wilson, _) => "Wilson interval",
        (PowerMethod::BonettPrice, _) => "Bonett–Price interval",
        (PowerMethod::Newcombe, _) => "Newcombe interval",
        (other, _) => other.name(),
    };
    let mut parts = vec![what.to_owned(), method.to_owned()];
    parts.push(match goal.is_width() {
        true => format!("level {}", short(1.0 - plan.alpha, 6)),
        false => format!("alpha {}", short(plan.alpha, 6)),
    });
    match plan.design {
        PowerDesign::Share(share) | PowerDesign::TwoShares(share) => {
            parts.push(format!("share {}", short(share, 4)))
        }
        _ => {
            if let Some(sd) = common(rows.iter().map(|row| short(row.sd, 4))) {
                parts.push(format!("sd {sd}"));
            }
            let flips = rows.iter().filter_map(|row| row.flips);
            if let Some(flips) =
                common(flips.map(|(p10, p01)| format!("p10 {}, p01 {}", short(p10, 4), short(p01, 4))))
            {
                parts.push(flips);
            }
        }
    }
    // Where it is from clusters, the line above has it.
    if plan.design_effect != 1.0 && !design.has_clusters {
        parts.push(format!("design effect {}", short(plan.design_effect, 4)));
    }
    design.source.iter().cloned().chain([parts.join(" · ")]).collect()
}

/// What all are, if they are one.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

fn listing(rows: &[PlannedRow], goal: &PlannedGoal) -> Listing {
    let has_epochs = rows.iter().any(|row| row.epochs != 1);
    let has_cost = rows.iter().any(|row| row.cost.is_some());
    let varies = |of: &dyn Fn(&PlannedRow) -> Option<String>| common(rows.iter().map(of)).is_none();
    let has_sd = has_epochs || varies(&|row| Some(short(row.sd, 4)));
    let has_flips = varies(&|row| row.flips.map(|(p10, p01)| format!("{} {}", short(p10, 4), short(p01, 4))));
    let has_notes = rows.iter().any(|row| row.is_cheapest || row.reason.is_some());
    type Cell<'a> = &'a dyn Fn(&PlannedRow) -> ListingCell;
    let figure = |number: Option<f64>| -> ListingCell {
        number.map(|number| ListingCell::new(short(number, 4), number.into())).into()
    };
    let power = |power: f64| ListingCell::new(power_text(power, goal), power.into());
    let note = |row: &PlannedRow| match (&row.reason, row.is_cheapest, has_cost) {
        (Some(reason), ..) => Some(reason.clone()),
        (None, true, true) => Some("lowest cost".to_owned()),
        (None, true, false) => Some("fewest calls".to_owned()),
        (None, false, _) => None,
    };
    let columns: [(&str, bool, Cell<'_>); 11] = [
        ("samples", true, &|row| row.samples.into()),
        ("epochs", has_epochs, &|row| u64::from(row.epochs).into()),
        ("calls", has_epochs || has_cost, &|row| row.calls.into()),
        ("cost", has_cost, &|row| figure(row.cost)),
        ("difference", !goal.is_width(), &|row| figure(row.difference)),
        ("width", true, &|row| figure(row.width)),
        ("power", !goal.is_width(), &|row| row.power.map(power).into()),
        ("sd", has_sd, &|row| figure(Some(row.sd))),
        ("p10", has_flips, &|row| figure(row.flips.map(|(p10, _)| p10))),
        ("p01", has_flips, &|row| figure(row.flips.map(|(_, p01)| p01))),
        ("note", has_notes, &|row| note(row).into()),
    ];
    let shown = || columns.iter().filter(|(_, is_shown, _)| *is_shown);
    let mut listing = Listing::new(shown().map(|(title, ..)| *title));
    rows.iter().for_each(|row| listing.push(shown().map(|(.., cell)| cell(row))));
    listing
}

/// A wanted power as it was given; a computed one with three decimals, and one that is not 1 does not look like it.
fn power_text(power: f64, goal: &PlannedGoal) -> String {
    if !matches!(goal, PlannedGoal::Power { .. }) {
        return short(power, 6);
    }
    if (0.9995..1.0).contains(&power) { "> 0.999".to_owned() } else { format!("{power:.3}") }
}

fn data(rows: &[PlannedRow], design: &PlannedDesign, method: PowerMethod) -> Listing {
    let kind = match design.plan.design {
        PowerDesign::TwoMeans(_) | PowerDesign::TwoShares(_) => "unpaired",
        _ if design.models == 1 => "one",
        _ => "paired",
    };
    type Cell<'a> = &'a dyn Fn(&PlannedRow) -> ListingCell;
    let columns: [(&str, Cell<'_>); 16] = [
        ("samples", &|row| row.samples.into()),
        ("epochs", &|row| u64::from(row.epochs).into()),
        ("difference", &|row| row.difference.into()),
        ("width", &|row| row.width.into()),
        ("power", &|row| row.power.into()),
        ("alpha", &|_| design.plan.alpha.into()),
        ("sd", &|row| row.sd.into()),
        ("method", &|_| method.name().into()),
        ("design", &|_| kind.into()),
        ("design_effect", &|row| row.design_effect.into()),
        ("p10", &|row| row.flips.map(|(p10, _)| p10).into()),
        ("p01", &|row| row.flips.map(|(_, p01)| p01).into()),
        ("calls", &|row| row.calls.into()),
        ("cost", &|row| row.cost.into()),
        ("cheapest", &|row| ListingCell::new(row.is_cheapest.to_string(), row.is_cheapest.into())),
        ("reason", &|row| row.reason.clone().into()),
    ];
    let mut listing = Listing::new(columns.iter().map(|(title, _)| *title));
    rows.iter().for_each(|row| listing.push(columns.iter().map(|(_, cell)| cell(row))));
    listing
}
