/**
 * Claims about the Java memory model on which our protocols depend, each beside a broken twin.
 *
 * <p>Reading order: {@link org.revenantdb.jcstress.BrokenTwin} explains what a twin is, and {@link
 * org.revenantdb.jcstress.PublishBeforeReadStress} shows the form. Then the latch: {@link
 * org.revenantdb.jcstress.LatchExclusionStress}, {@link
 * org.revenantdb.jcstress.LatchPublicationStress}, {@link
 * org.revenantdb.jcstress.OptimisticReadStress}; the waiters of a latch: {@link
 * org.revenantdb.jcstress.ParkedBitStress}, {@link org.revenantdb.jcstress.TimeoutStress}; the
 * pages: {@link org.revenantdb.jcstress.TranslationPublishStress}, {@link
 * org.revenantdb.jcstress.FrameRecycleStress}; and the snapshots: {@link
 * org.revenantdb.jcstress.SnapshotHorizonStress}.
 */
@NullMarked
package org.revenantdb.jcstress;

import org.jspecify.annotations.NullMarked;
