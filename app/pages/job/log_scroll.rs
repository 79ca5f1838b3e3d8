//! Where a log of any length stands in a window that scrolls. Browsers lay out so many pixels only:
//! beyond them a pixel is more than a part of a line.

/// The height of a line, in pixels, as `--line-mono` says.
pub(crate) const LINE: f64 = 19.0;
/// So high is laid out, which every browser can.
const TALLEST: f64 = 8_000_000.0;

/// A window on a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Port {
    /// How many rows the log has.
    pub(crate) rows: f64,
    /// The height of the window.
    pub(crate) height: f64,
}

impl Port {
    /// The height that is laid out.
    pub(crate) fn laid_out(self) -> f64 {
        (self.rows * LINE).min(TALLEST)
    }

    /// The first row, a part of it perhaps, that is seen when the last one is.
    pub(crate) fn last_top(self) -> f64 {
        (self.rows - self.height / LINE).max(0.0)
    }

    /// How many rows are seen, parts of rows counted.
    pub(crate) fn seen(self) -> u64 {
        whole((self.height / LINE).ceil() + 1.0)
    }

    /// The first row seen where it is scrolled so far.
    pub(crate) fn top(self, scrolled: f64) -> f64 {
        let way = self.laid_out() - self.height;
        if way <= 0.0 { 0.0 } else { between(scrolled / way, 0.0, 1.0) * self.last_top() }
    }

    /// How far it is scrolled where this row is the first.
    pub(crate) fn scrolled(self, top: f64) -> f64 {
        let way = (self.laid_out() - self.height).max(0.0);
        if self.last_top() <= 0.0 { 0.0 } else { between(top / self.last_top(), 0.0, 1.0) * way }
    }

    /// The row nearest to one that can be the first.
    pub(crate) fn clamp(self, top: f64) -> f64 {
        between(top, 0.0, self.last_top())
    }
}

/// The nearest to a number between two. What `f64::clamp` would say of bounds that are none is much code
/// for the browser to load.
fn between(number: f64, least: f64, most: f64) -> f64 {
    number.min(most).max(least)
}

/// A count of rows as a number of the window.
#[expect(clippy::cast_precision_loss, reason = "no log has so many lines")]
pub(crate) fn rows(count: u64) -> f64 {
    count as f64
}

/// The row that is at a place.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
pub(crate) fn whole(place: f64) -> u64 {
    place.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_log_scrolls_by_pixels() {
        let port = Port { rows: 1_000.0, height: 380.0 };
        assert!((port.top(190.0) - 10.0).abs() < 1e-9);
        assert!((port.scrolled(10.0) - 190.0).abs() < 1e-9);
        assert!((port.top(1e9) - 980.0).abs() < 1e-9);
        assert_eq!(port.seen(), 21);
    }

    #[test]
    fn a_very_long_log_reaches_its_ends() {
        let port = Port { rows: 30_000_000.0, height: 500.0 };
        assert!(port.laid_out() <= TALLEST);
        assert!(port.top(0.0).abs() < 1e-9);
        assert!((port.top(port.laid_out() - port.height) - port.last_top()).abs() < 1e-6);
        for top in [0.0, 1.0, 12_345_678.0, port.last_top()] {
            assert!((port.top(port.scrolled(top)) - top).abs() < 1e-3);
        }
    }

    #[test]
    fn a_log_that_fits_does_not_scroll() {
        let port = Port { rows: 3.0, height: 500.0 };
        assert!(port.last_top().abs() < 1e-9 && port.top(5.0).abs() < 1e-9);
        assert!(port.scrolled(2.0).abs() < 1e-9);
        assert_eq!(whole(-1.0), 0);
    }
}
