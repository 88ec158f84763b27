/**
 * Log segments as files: their headers, where new ones come from, and how they are read back. For
 * the packages of this module only.
 *
 * <p>Reading order: {@link org.revenantdb.recovery.segment.SegmentPlace}, {@link
 * org.revenantdb.recovery.segment.SegmentMap}, {@link
 * org.revenantdb.recovery.segment.SegmentHeader}, {@link
 * org.revenantdb.recovery.segment.SegmentDirectory}, {@link
 * org.revenantdb.recovery.segment.SegmentSupply}, {@link
 * org.revenantdb.recovery.segment.LogReader}.
 */
package org.revenantdb.recovery.segment;
