package org.revenantdb.cli;

import java.io.IOException;
import java.io.InputStream;
import org.revenantdb.engine.admin.AdminReply;

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

  void sequence(AdminReply.SequenceEntry sequence) throws IOException;

  void table(AdminReply.TableEntry table) throws IOException;

  /** Writes a row of the table. */
  void row(byte[] key, long valueBytes, InputStream value) throws IOException;

  /** Ends the dump: a reader can see that nothing is missing. */
  void end() throws IOException;
}
