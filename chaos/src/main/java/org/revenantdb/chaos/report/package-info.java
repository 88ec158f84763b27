/**
 * What a person sees while a run goes on and at its end: {@link
 * org.revenantdb.chaos.report.Progress}, {@link org.revenantdb.chaos.report.TextTable}, {@link
 * org.revenantdb.chaos.report.JsonReport}.
 */
package org.revenantdb.chaos.report;
