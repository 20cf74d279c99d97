//! Known crawlers: lists of their names, and how their operators document that they read robots.txt.
//!
//! Each fact has the page that states it, the day on which it was read, and a [`Grade`].

mod class;
mod documented;
mod listed;
mod lists;
mod misspelt;

pub use class::Class;
pub use documented::{
    Cell, DOCUMENTED, DelayUse, Documented, Grade, OtherDialect, Page, describe, first_token,
};
pub use lists::{
    CrawlerList, controls_use, crawler, documented, find, from_header, from_token, is_of_google,
    lists, names, page_of_answers, page_of_token, trains,
};
pub use misspelt::{misspelt, nearest};
