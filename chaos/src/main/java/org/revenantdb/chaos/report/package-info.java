/**
 * The output for people during a run and at its end.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.report.Progress} (during a run); {@link
 * org.revenantdb.chaos.report.RunReport} (the results), shown by {@link
 * org.revenantdb.chaos.report.ConsoleSummary} (over {@link org.revenantdb.chaos.report.TextTable}),
 * {@link org.revenantdb.chaos.report.RunJson} (over {@link org.revenantdb.chaos.report.JsonReport})
 * and {@link org.revenantdb.chaos.report.HtmlReport}, whose plots are {@code SvgPlot} and {@code
 * SvgTimeline} over {@code Scale} and {@code Unit}.
 */
package org.revenantdb.chaos.report;
