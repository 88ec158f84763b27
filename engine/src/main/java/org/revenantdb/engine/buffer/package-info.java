/**
 * The pages in memory, and the only place that reads and writes them.
 *
 * <p>Reading order: {@link org.revenantdb.engine.buffer.BufferPool} (the states of a frame, and
 * which thread may change them), {@code Frames} and {@code Translation} (its state), {@code
 * FrameClaims} (how a page gets a frame), {@code Clock} (which page is evicted), with {@code
 * Probation} and {@code DepartedPages}, {@code PageLoader} (how a page comes in) and {@code
 * PageJudge} (whether it is good), {@link org.revenantdb.engine.buffer.PageWriter} (how changes
 * reach the file), {@code FlushedLsns} (how a lost write is detected), {@code PageReaders}, {@code
 * Slabs} (the memory), {@link org.revenantdb.engine.buffer.PoolWaits} (the reports of waits).
 *
 * <p>The protocols are in {@code README.md} beside this file.
 */
package org.revenantdb.engine.buffer;
