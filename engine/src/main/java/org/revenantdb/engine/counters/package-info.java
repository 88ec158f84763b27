/**
 * The counters file: the counters of an open database, for readers outside its process.
 *
 * <p>Reading order: {@code CountersLayout} (the bytes), {@code CounterOrder} (the counters except
 * the waits), {@code CountersFile} (the open database writes it), {@code StoredCounters} (others
 * read it). Nothing in the engine depends on what is in the file.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.counters;
