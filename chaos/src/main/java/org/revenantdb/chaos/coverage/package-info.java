/**
 * Where a store forces its files, and whether anyone would notice if it did not.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.coverage.ForceSites}, {@link
 * org.revenantdb.chaos.coverage.CallSite}; the mutations themselves are in {@code
 * run.ForceCoverage}.
 */
package org.revenantdb.chaos.coverage;
