/**
 * {@code ./revenant fuzz}: databases with everything there is, damaged in every way, and opened.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.revenant.fuzz.Population} makes a {@link
 * org.revenantdb.chaos.revenant.fuzz.Family} of moments; {@link
 * org.revenantdb.chaos.revenant.fuzz.VariantDraw} draws a {@link
 * org.revenantdb.chaos.revenant.fuzz.Variant}, which is a list of {@link
 * org.revenantdb.chaos.revenant.fuzz.Damage}; {@link org.revenantdb.chaos.revenant.fuzz.Trial}
 * opens it and says the {@link org.revenantdb.chaos.revenant.fuzz.Outcome}; {@link
 * org.revenantdb.chaos.revenant.fuzz.FuzzChild} does so for many, and {@link
 * org.revenantdb.chaos.revenant.fuzz.FuzzRun} watches the children and counts.
 */
package org.revenantdb.chaos.revenant.fuzz;
