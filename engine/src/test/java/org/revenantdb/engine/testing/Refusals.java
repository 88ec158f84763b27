package org.revenantdb.engine.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.function.Executable;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.LimitException;
import org.revenantdb.engine.StorageException;
import org.revenantdb.engine.TableException;
import org.revenantdb.engine.TransactionStateException;

/** Assertions that a call throws an exception with a reason. */
public final class Refusals {
  private Refusals() {}

  public static ConflictException assertRefused(ConflictReason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static ConflictException assertRefused(
      ConflictReason reason, Executable call, String message) {
    ConflictException refused = assertThrows(ConflictException.class, call, message);
    assertEquals(reason, refused.reason(), refused::getMessage);
    return refused;
  }

  public static LimitException assertRefused(LimitException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static LimitException assertRefused(
      LimitException.Reason reason, Executable call, String message) {
    LimitException refused = assertThrows(LimitException.class, call, message);
    assertEquals(reason, refused.reason(), refused::getMessage);
    return refused;
  }

  public static StorageException assertRefused(StorageException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static StorageException assertRefused(
      StorageException.Reason reason, Executable call, String message) {
    StorageException refused = assertThrows(StorageException.class, call, message);
    assertEquals(reason, refused.reason(), refused::getMessage);
    return refused;
  }

  public static TableException assertRefused(TableException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static TableException assertRefused(
      TableException.Reason reason, Executable call, String message) {
    TableException refused = assertThrows(TableException.class, call, message);
    assertEquals(reason, refused.reason(), refused::getMessage);
    return refused;
  }

  public static TransactionStateException assertRefused(
      TransactionStateException.Reason reason, Executable call) {
    return assertRefused(reason, call, "");
  }

  public static TransactionStateException assertRefused(
      TransactionStateException.Reason reason, Executable call, String message) {
    TransactionStateException refused =
        assertThrows(TransactionStateException.class, call, message);
    assertEquals(reason, refused.reason(), refused::getMessage);
    return refused;
  }
}
