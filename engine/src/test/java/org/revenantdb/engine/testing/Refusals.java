package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.function.Function;
import org.junit.jupiter.api.function.Executable;
import org.revenantdb.engine.CatalogException;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.RevenantException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.TransactionStateException;

/** Assertions that a call throws an exception with a reason. */
public final class Refusals {
  private Refusals() {}

  public static ConflictException assertRefused(ConflictReason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static ConflictException assertRefused(
      ConflictReason reason, Executable call, String message) {
    return refused(ConflictException.class, ConflictException::reason, reason, call, message);
  }

  public static LimitException assertRefused(LimitException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static LimitException assertRefused(
      LimitException.Reason reason, Executable call, String message) {
    return refused(LimitException.class, LimitException::reason, reason, call, message);
  }

  public static StorageException assertRefused(StorageException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static StorageException assertRefused(
      StorageException.Reason reason, Executable call, String message) {
    return refused(StorageException.class, StorageException::reason, reason, call, message);
  }

  public static CatalogException assertRefused(CatalogException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static CatalogException assertRefused(
      CatalogException.Reason reason, Executable call, String message) {
    return refused(CatalogException.class, CatalogException::reason, reason, call, message);
  }

  public static TransactionStateException assertRefused(
      TransactionStateException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static TransactionStateException assertRefused(
      TransactionStateException.Reason reason, Executable call, String message) {
    return refused(
        TransactionStateException.class, TransactionStateException::reason, reason, call, message);
  }

  private static <E extends RevenantException, R> E refused(
      Class<E> type, Function<E, R> reasonOf, R reason, Executable call, String message) {
    E refused = assertThrows(type, call, message);
    assertEquals(reason, reasonOf.apply(refused), refused::getMessage);
    return refused;
  }
}
