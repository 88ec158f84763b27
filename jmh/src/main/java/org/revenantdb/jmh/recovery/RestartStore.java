package org.revenantdb.jmh.recovery;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A store with one table of {@link BigRows} that is killed with an open transaction, and opened
 * again. The constructor opens it, with the directory; the time until rows can be read is in the
 * constructor or in the first read.
 *
 * <p>An implementation loads native code, if it has any, when its class is initialized: to unpack a
 * library is no part of a restart.
 */
public interface RestartStore extends AutoCloseable {
  /**
   * Inserts rows in one transaction, which is durable when this returns.
   *
   * @param first key
   * @param count of the keys from there on
   * @throws Exception whatever the engine throws
   */
  void insert(long first, long count) throws Exception;

  /**
   * Begins a transaction, gives each row the number 1 in it, and leaves it open.
   *
   * @param rows all there are
   * @throws Exception whatever the engine throws
   */
  void updateAll(long rows) throws Exception;

  /**
   * Reads a row as it was committed.
   *
   * @param key of a row
   * @return its value
   * @throws Exception whatever the engine throws, or if it is missing
   */
  byte[] read(long key) throws Exception;

  /** Rolls back the open transaction, and leaves nothing for the next opening to process. */
  @Override
  void close() throws IOException;

  /**
   * Opens one.
   *
   * @param engine name of the class
   * @param directory empty, or of the same engine
   * @return the store
   * @throws java.lang.reflect.InvocationTargetException if the engine threw something
   * @throws ReflectiveOperationException if there is no such class
   */
  static RestartStore open(String engine, Path directory) throws ReflectiveOperationException {
    return Class.forName(engine)
        .asSubclass(RestartStore.class)
        .getDeclaredConstructor(Path.class)
        .newInstance(directory);
  }
}
