/**
 * {@code ./revenant fuzz}: databases with all structures of the format, damaged in many ways, and
 * opened.
 *
 * <p>Reading order: {@link org.revenantdb.suite.fuzz.Population} creates a {@link
 * org.revenantdb.suite.fuzz.Family} of moments; {@link org.revenantdb.suite.fuzz.VariantDraw} draws
 * a {@link org.revenantdb.suite.fuzz.Variant}, which is a list of {@link
 * org.revenantdb.suite.fuzz.Damage}; {@link org.revenantdb.suite.fuzz.Trial} opens it and returns
 * the {@link org.revenantdb.suite.fuzz.Outcome}; {@link org.revenantdb.suite.fuzz.FuzzChild} does
 * this for many variants, and {@link org.revenantdb.suite.fuzz.FuzzRun} watches the children and
 * counts.
 */
package org.revenantdb.suite.fuzz;
