/**
 * Sorts rows of an unsorted bulk load, in bounded memory and in temporary files (docs/protocols.md
 * §61).
 *
 * <p>Reading order: {@code SortedChanges} (the bytes, and the merge), {@code GatheredChanges} (in
 * memory), {@code SortFiles}, {@code SortedRuns}, {@code LargeValues}, {@code ExternalSort}.
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.sort;
