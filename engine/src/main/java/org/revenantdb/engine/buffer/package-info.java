/**
 * The pages in memory, and the only place that brings them in and writes them out.
 *
 * <p>Reading order: {@link org.revenantdb.engine.buffer.BufferPool} (what a frame is and who may do
 * what with it), {@code Frames} and {@code Translation} (its state), {@code FrameClaims} (how a
 * page gets a frame), {@code Clock} (who leaves), with {@code Probation} and {@code DepartedPages},
 * {@code PageLoader} (how a page comes in) and {@code PageJudge} (whether it is good), {@link
 * org.revenantdb.engine.buffer.PageWriter} (how changes reach the file), {@code FlushedLsns} (how a
 * lost write is noticed), {@code PageReaders}, {@code Slabs} (where the memory comes from), {@link
 * org.revenantdb.engine.buffer.PoolWaits} (who is told of waits).
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.buffer;
