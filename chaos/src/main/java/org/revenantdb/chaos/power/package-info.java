/**
 * Power cuts: the states that a disk may legally be left in by what a trace shows.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.power.PlatformProfile}, {@link
 * org.revenantdb.chaos.power.DiskRules}, {@code PowerCut}.
 */
package org.revenantdb.chaos.power;
