package org.revenantdb.suite.fuzz;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** An open database in a trial. Every change is a separate, durable transaction. */
interface Subject extends AutoCloseable {

  /** Opens RevenantDB, or in tests a subject with a planted fault. */
  interface Opener {
    Subject open(Path directory, boolean readOnly) throws Exception;

    /** Whether it is one of the project's own exceptions. */
    boolean isRefusal(Throwable thrown);

    /** Prefix of the names of its threads that must have ended after the close. */
    String threads();
  }

  /** A name in a list does not exist when it is read. */
  final class NotFoundException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotFoundException(String what) {
      super(what + " is in the list and cannot be found");
    }
  }

  List<String> tables();

  List<String> prepared();

  /** Reads all rows in order: key, and mark of the value. */
  void scan(String table, ObjLongConsumer<String> row) throws Exception;

  /** The mark of a value, or null if the row does not exist. */
  @Nullable Long get(String table, String key) throws Exception;

  void put(String table, String key, byte[] value);

  void delete(String table, String key);

  /** Commits a prepared transaction or rolls it back. */
  void decide(String prepared, boolean commit);

  /** Takes a value of each sequence; returns them by name. */
  Map<String, Long> sequences();

  void check();

  /** Cleans, compacts or writes a checkpoint. */
  void maintain(int which);

  @Override
  void close();
}
