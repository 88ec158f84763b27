package org.revenantdb.jmh.gc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * An engine with a table of small rows and an open snapshot, as the interface for {@code bench gc}.
 * A JVM has one engine. One thread.
 */
public interface SnapshotStore extends AutoCloseable {
  /**
   * Stores a row in a separate transaction, without a force.
   *
   * @param key belongs to the caller, which writes another one into it afterwards
   * @param value the caller's as well
   * @throws Exception whatever the engine throws
   */
  void update(byte[] key, byte[] value) throws Exception;

  /**
   * Opens the one snapshot, of now.
   *
   * @throws Exception whatever the engine throws
   */
  void openSnapshot() throws Exception;

  /**
   * Reads a row as the snapshot has it.
   *
   * @param key of a row that it has
   * @return its value
   * @throws Exception whatever the engine throws
   */
  byte[] readInSnapshot(byte[] key) throws Exception;

  /**
   * Reads a row as it is now.
   *
   * @param key of an existing row
   * @return its value
   * @throws Exception whatever the engine throws
   */
  byte[] readNow(byte[] key) throws Exception;

  /**
   * Closes the snapshot.
   *
   * @throws Exception whatever the engine throws
   */
  void closeSnapshot() throws Exception;

  /**
   * The size of the engine's files.
   *
   * @return bytes; of a file that has holes, those without them
   */
  long diskBytes();

  @Override
  void close() throws IOException;

  /**
   * Makes an engine.
   *
   * @param name of its class, which has a constructor that is given an empty directory
   * @return it
   * @throws ReflectiveOperationException if that cannot be done
   */
  static SnapshotStore open(String name, Path directory) throws ReflectiveOperationException {
    return Class.forName(name)
        .asSubclass(SnapshotStore.class)
        .getDeclaredConstructor(Path.class)
        .newInstance(directory);
  }

  /**
   * How long all files of a directory are.
   *
   * @param directory of an engine that is open: a file may go meanwhile
   * @return bytes
   */
  static long filesIn(Path directory) {
    try {
      return FileLengths.in(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
