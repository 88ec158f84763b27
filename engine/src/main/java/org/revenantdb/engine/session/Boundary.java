package org.revenantdb.engine.session;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseClosedException;
import org.revenantdb.engine.InternalFailureException;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.OutcomeUnknownException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.access.ApiAccess;
import org.revenantdb.engine.access.Misuse;
import org.revenantdb.engine.buffer.PoolClosedException;
import org.revenantdb.engine.buffer.PoolSizeException;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.IoFailures;
import org.revenantdb.recovery.log.DurabilityUnknownException;
import org.revenantdb.recovery.log.LogStoppedException;

/**
 * The place where failures leave the engine: every public method that may fail passes its failures
 * through this class.
 *
 * <p>A caller receives one of the project's own exceptions, with the caller's stack, whatever
 * thread met the failure first. Errors are not changed.
 */
public final class Boundary {
  /*
   * A method of the API      checks its arguments, which Java's own exceptions report
   *                          try { works } catch (RuntimeException failure) { throw told(failure); }
   * Code of the user         (the body of a transaction, a stream that is read) runs outside of the try: what it throws
   *                          is the user's
   * Exceptions to this       none: BoundaryTest checks the byte code of every public method
   * Cost                     none while nothing is thrown
   */
  private Boundary() {}

  /**
   * The exception for a caller.
   *
   * @param directory the directory of the database
   * @param failure the exception of a method of the engine
   * @return the exception to throw
   */
  public static RuntimeException told(Path directory, RuntimeException failure) {
    Throwable found = failure;
    while ((found instanceof CompletionException || found instanceof ExecutionException)
        && found.getCause() != null) {
      found = found.getCause();
    }
    return switch (found) {
      case Error error -> throw error;
      case RevenantException own -> ApiAccess.api().forCaller(own);
      case FileException file -> FileFailures.toApi(file);
      case RuntimeException misuse when misuse instanceof Misuse -> misuse;
      case LogStoppedException stopped -> Engine.stopped(stopped);
      case DurabilityUnknownException unknown ->
          new OutcomeUnknownException(
              "the log failed before a change was known to be durable: open the database again and check what was kept ("
                  + Engine.why(unknown)
                  + ")",
              unknown);
      case PoolClosedException closed -> closed(closed);
      case PoolSizeException size ->
          new LimitException(
              size.isNoFrameFree()
                  ? LimitException.Reason.POOL_TOO_SMALL
                  : LimitException.Reason.POOL_TOO_LARGE,
              Engine.why(size),
              size);
      case UncheckedIOException system ->
          FileFailures.toApi(
              IoFailures.of(
                  directory,
                  FileException.NO_OFFSET,
                  "working with the database",
                  Objects.requireNonNull(system.getCause()))); // it has no other constructor
      default -> unexpected(directory, found);
    };
  }

  private static DatabaseClosedException closed(Throwable cause) {
    DatabaseClosedException told = OperationGate.closed();
    told.initCause(cause);
    return told;
  }

  private static InternalFailureException unexpected(Path directory, Throwable cause) {
    return new InternalFailureException(
        "the engine met an unexpected state in the database "
            + directory
            + " ("
            + cause
            + "): the database is damaged, or this is a defect of RevenantDB; run the check command on it. If that finds no damage,"
            + " report this with the stack (version "
            + Database.VERSION
            + ")",
        cause);
  }
}
