/**
 * The pages in memory, and the only place that brings them in and writes them out.
 *
 * <p>Reading order: {@link org.revenantdb.engine.buffer.BufferPool} (what a frame is and who may do
 * what with it), {@code Frames} and {@code Translation} (its state), {@code Clock} (who leaves),
 * {@link org.revenantdb.engine.buffer.PageWriter} (how changes reach the file), {@code
 * PageReaders}, {@code Slabs} (where the memory comes from).
 */
package org.revenantdb.engine.buffer;
