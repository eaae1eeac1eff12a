//! Drawing primitives: scales, marks, intervals and axes as SVG.
//!
//! A drawing has no viewBox: horizontal positions are percentages and heights are pixels, so that plots stretch with the
//! page and type does not. Colours come from the classes of the stylesheet (`m1` to `m6`), never from attributes, because
//! the content security policy of the page allows no inline styles. Marks, caps and chevrons are `<use>` of [`defs`].
//!
//! ```
//! use errorbar_core::Estimate;
//! use errorbar_report::svg::{interval, IntervalSize, IntervalStyle, Scale, Series};
//!
//! let estimate = Estimate::new(0.8472).with_stderr(0.0255).with_interval(0.7958, 0.8986, 0.95);
//! let style = IntervalStyle::new(Series::of(0, 3), IntervalSize::Table);
//! let drawn = interval(&Scale::unit(), &estimate, &style).into_string();
//! assert!(drawn.contains("<use class=\"mk\" href=\"#Kc\" x=\"84.72%\" y=\"50%\"/>"), "{drawn}");
//! ```

mod axis;
mod drawing;
mod escape;
mod interval;
mod mark;
mod scale;

pub use axis::{Reference, axis, axis_height, axis_width, grid};
pub(crate) use drawing::{Drawing, px};
pub(crate) use escape::name_length;
pub use escape::{breakable, escape, visible};
pub use interval::{IntervalSize, IntervalStyle, Y, interval};
pub use mark::{Mark, Series, brand, defs};
pub use scale::{Scale, percent, tick_text};
