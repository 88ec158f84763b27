/**
 * Power cuts: the legal states of a disk after the operations of a trace.
 *
 * <p>Reading order: {@link org.revenantdb.chaos.profile.PlatformProfile}, {@link
 * org.revenantdb.chaos.profile.DiskRules}, {@link org.revenantdb.chaos.power.PowerCut} (the
 * protocol), {@code PendingDisk} with {@code PendingFile} and {@code PendingNames} (what is
 * durable, what is pending), {@code FilePick} (one legal choice), {@link
 * org.revenantdb.chaos.power.CrashStates} with {@code LossDraw} (which choices), {@link
 * org.revenantdb.chaos.power.AimedStates}, {@link org.revenantdb.chaos.power.Shrinker}.
 */
package org.revenantdb.chaos.power;
