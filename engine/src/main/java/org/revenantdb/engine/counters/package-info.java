/**
 * The counters file: what an open database has counted, for a look from outside of its process.
 *
 * <p>Reading order: {@code CountersLayout} (the bytes), {@code CounterOrder} (what is counted
 * beside the waits), {@code CountersFile} (the open database writes it), {@code StoredCounters}
 * (others read it). Nothing in the engine depends on what is in the file.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.counters;
