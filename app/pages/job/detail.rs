use api::jobs::JobDetail;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::reading::Reading;

/// What the parts of the page read.
pub(super) type Detail = Reading<JobDetail>;

/// Makes the view of a part.
pub(super) type Part = fn(JobKey, Detail) -> AnyView;
