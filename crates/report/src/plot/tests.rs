//! Plots of what people really have, and of what they should not have.
