package org.revenantdb.engine.admin;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.StorageException;

/**
 * What the reading verbs of the command see of a database: an {@link OpenView} in the process that
 * has it open, an {@link AdminClient} beside it.
 *
 * <p>A view shows one moment, from its first request but {@link #check} and {@link #backup} on
 * until it is closed. The tables are those of that moment or shortly after it, and sequences have
 * used no fewer values than then. Meanwhile the view holds an open snapshot, like any transaction.
 *
 * <p>Failure: as the methods of {@link org.revenantdb.engine.Database} with the same meaning; an
 * {@link AdminClient} throws an {@link AdminException} with their message instead.
 *
 * <p>Threads: one.
 */
public interface DatabaseView extends AutoCloseable {
  /**
   * Opens a database, or asks the process that has it open.
   *
   * @param directory the directory of the database
   * @param options how to open it
   * @return the view; its close closes what was opened
   * @throws StorageException if it cannot be opened for another reason than a process that has it
   *     open
   * @throws IOException if that process does not let others read it, or cannot be reached
   */
  static DatabaseView open(Path directory, DatabaseOptions options) throws IOException {
    Database db;
    try {
      db = Database.open(directory, options);
    } catch (StorageException refused) {
      return AdminClient.beside(directory, refused);
    }
    return new OpenView(db, /* owned= */ true);
  }

  /** Receives rows. */
  interface RowSink {
    /**
     * Takes a row.
     *
     * @param key its key
     * @param valueBytes length of its value; -1 if only keys were asked for
     * @param value its value, for this call; it need not be read
     * @throws IOException if it cannot be taken; it ends the scan
     */
    void row(byte[] key, long valueBytes, InputStream value) throws IOException;
  }

  /**
   * The database.
   *
   * @return its directory
   */
  Path directory();

  /**
   * The tables.
   *
   * @return by name
   * @throws IOException if the other process cannot be reached
   */
  List<AdminReply.TableEntry> tables() throws IOException;

  /**
   * The sequences.
   *
   * @return by name
   * @throws IOException if the other process cannot be reached
   */
  List<AdminReply.SequenceEntry> sequences() throws IOException;

  /**
   * Counts rows.
   *
   * @param table name of the table
   * @param from first key; null for the first of the table
   * @param end end of the keys, exclusive; null for the end of the table
   * @return the number of rows
   * @throws IOException if the other process cannot be reached
   */
  long count(String table, byte @Nullable [] from, byte @Nullable [] end) throws IOException;

  /**
   * Writes the value of a key to a stream.
   *
   * @param table name of the table
   * @param key the key
   * @param to receives the bytes
   * @return false if there is no such row
   * @throws IOException if the other process cannot be reached, or the stream throws it
   */
  boolean get(String table, byte[] key, OutputStream to) throws IOException;

  /**
   * Hands out the rows of a range.
   *
   * @param scan table, range and order
   * @param sink receives the rows
   * @throws IOException if the other process cannot be reached, or the sink throws it
   */
  void scan(AdminRequest.Scan scan, RowSink sink) throws IOException;

  /**
   * Checks the database.
   *
   * @return the result
   * @throws IOException if the other process cannot be reached
   */
  AdminReply.Checked check() throws IOException;

  /**
   * Copies the database while it is in use.
   *
   * @param target a directory that is empty or does not exist
   * @param options limit and listener
   * @return a report about the copy
   * @throws IOException if the other process cannot be reached
   */
  AdminReply.BackedUp backup(Path target, BackupOptions options) throws IOException;

  /**
   * Copies the database to a stream while it is in use.
   *
   * @param target receives the stream of a backup; it is flushed at the end, and not closed. It is
   *     a backup only if this method returns
   * @param options limit and listener
   * @return a report about the copy
   * @throws IOException if the other process cannot be reached
   */
  AdminReply.BackedUp backup(OutputStream target, BackupOptions options) throws IOException;

  @Override
  void close() throws IOException;
}
