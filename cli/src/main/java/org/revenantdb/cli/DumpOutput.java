package org.revenantdb.cli;

import java.io.IOException;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.Table;

/**
 * Writes a dump in one of its forms: {@link #begin}, sequences, tables with their rows, {@link
 * #end}.
 */
interface DumpOutput {
  /**
   * Begins the dump.
   *
   * @param tables how many follow
   */
  void begin(int tables) throws IOException;

  void sequence(Sequence sequence) throws IOException;

  void table(Table table) throws IOException;

  /** Writes the row of a cursor. */
  void row(Cursor row) throws IOException;

  /** Ends the dump: a reader can see that nothing is missing. */
  void end() throws IOException;
}
