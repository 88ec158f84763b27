/**
 * The places where a store forces its files, and whether a run would detect that one is missing.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.coverage.ForceSites}, {@link
 * org.revenantdb.chaos.coverage.CallSite}; the mutations themselves are in {@code
 * run.ForceCoverage}.
 */
package org.revenantdb.chaos.coverage;
