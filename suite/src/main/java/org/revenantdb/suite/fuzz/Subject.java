package org.revenantdb.suite.fuzz;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** An open database as a trial sees it. Every change is a transaction of its own, and durable. */
interface Subject extends AutoCloseable {

  /** What is opened: RevenantDB, or in tests something with a planted fault. */
  interface Opener {
    Subject open(Path directory, boolean readOnly) throws Exception;

    /** Whether this is how the project says no. */
    boolean isRefusal(Throwable thrown);

    /** How the names of its threads begin that must be gone once it is closed. */
    String threads();
  }

  /** What stands in a list is not there when it is asked for. */
  final class NotFoundException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    NotFoundException(String what) {
      super(what + " is in the list and cannot be found");
    }
  }

  List<String> tables();

  List<String> prepared();

  /** All rows in order: key, and mark of the value. */
  void scan(String table, ObjLongConsumer<String> row) throws Exception;

  /** The mark of a value, or null if there is no such row. */
  @Nullable Long get(String table, String key) throws Exception;

  void put(String table, String key, byte[] value);

  void delete(String table, String key);

  /** Commits a prepared transaction or rolls it back. */
  void decide(String prepared, boolean commit);

  /** Takes a value of each sequence: by name. */
  Map<String, Long> sequences();

  void check();

  /** Cleans, compacts or writes a checkpoint. */
  void maintain(int which);

  @Override
  void close();
}
