/**
 * What a person sees while a run goes on and at its end.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.report.Progress} while it goes on; {@link
 * org.revenantdb.chaos.report.RunReport} is all that it came to, shown by {@link
 * org.revenantdb.chaos.report.ConsoleSummary} (over {@link org.revenantdb.chaos.report.TextTable}),
 * {@link org.revenantdb.chaos.report.RunJson} (over {@link org.revenantdb.chaos.report.JsonReport})
 * and {@link org.revenantdb.chaos.report.HtmlReport}, whose plots are {@code SvgPlot} and {@code
 * SvgTimeline} over {@code Scale} and {@code Unit}.
 */
package org.revenantdb.chaos.report;
