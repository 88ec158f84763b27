package org.revenantdb.cli;

import java.io.InputStream;
import org.revenantdb.engine.SequenceOptions;

/**
 * A part of a dump, in the order in which a dump has them: sequences, then tables with their rows.
 */
sealed interface DumpItem {
  /**
   * A sequence.
   *
   * @param position how many of its values are used
   */
  record OfSequence(String name, SequenceOptions options, long position) implements DumpItem {}

  /** A table; its rows follow. */
  record OfTable(String name, int partitions) implements DumpItem {}

  /**
   * A row of the table before it.
   *
   * @param value read to its end before the next item is asked for
   */
  record OfRow(byte[] key, InputStream value) implements DumpItem {}
}
