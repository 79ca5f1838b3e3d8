use protocol::problem::Problem;

/// A mistake in the language in which `said` says sentences.
pub(crate) fn worded(problem: &Problem, said: fn(&str) -> String) -> Problem {
    let (message, allowed) = (said(&problem.message), said(&problem.allowed));
    Problem { message, allowed, ..problem.clone() }
}
