package org.revenantdb.chaos.hooks;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.revenantdb.chaos.fault.FaultPoint;
import org.revenantdb.chaos.subject.FaultKind;

/**
 * Decides which call fails, and how. Nothing is allocated once it is made.
 *
 * <p>Threads: under the lock of {@link Hooks}.
 */
final class Faults {
  /*
   * Possible    A call is a set of bits, one for each thing that can fail in it: an open that
   *             creates a file is an opening and a creation. A fault is possible where its bit is.
   *             Calls are counted for each kind of fault, in every run.
   */

  static final int WRITE = 1;
  static final int LONG_WRITE = 2;
  static final int GROWTH = 4;
  static final int FORCE = 8;
  static final int OPEN = 16;
  static final int CREATE = 32;
  static final int TRUNCATE = 64;
  static final int RENAME = 128;
  static final int DELETE = 256;

  /** The call is carried out. */
  static final int NONE = 0;

  /** The call is not carried out and fails. */
  static final int FAILS = 1;

  /** The call is not carried out and fails, and its pages count as written. */
  static final int FAILS_CLEAN = 2;

  /** Only the first half of a write is carried out. */
  static final int HALF = 3;

  private static final int EIO = 5;
  private static final int EMFILE = 24;
  private static final int ENOSPC = 28;

  private static final List<FaultKind> KINDS = List.of(FaultKind.values());
  private static final int[] BITS = KINDS.stream().mapToInt(Faults::bit).toArray();

  /** No fault. */
  static final Faults NOTHING = new Faults(FaultKind.WRITE_FAILS, 0);

  private final FaultKind kind;
  private final int number;
  private final long nth;

  private Faults(FaultKind kind, long nth) {
    this.kind = kind;
    this.number = KINDS.indexOf(kind);
    this.nth = nth;
  }

  static Faults of(FaultPoint point) {
    return new Faults(point.kind(), point.nth());
  }

  /** How many calls could have had each fault. */
  static Map<FaultKind, Long> counts(Tape tape) {
    Map<FaultKind, Long> counts = new EnumMap<>(FaultKind.class);
    for (int i = 0; i < KINDS.size(); i++) {
      counts.put(KINDS.get(i), tape.possibles(i));
    }
    return counts;
  }

  /** Why a hook cannot make such a fault; empty if it can. */
  static String impossible(FaultKind kind) {
    return switch (kind) {
      case READ_FAILS -> "reads are not hooked; with files = PATH this fault is possible";
      case OUT_OF_MEMORY, STACK_OVERFLOW ->
          "an error of the JVM cannot be thrown into native code; with files = PATH this fault is"
              + " possible";
      case INTERRUPT ->
          "a thread that is in native code cannot interrupt itself; with files = PATH this fault is"
              + " possible";
      case ALLOCATION_FAILS, HEAP_FULL, CALL_OVERFLOWS ->
          "errors in code need a store in the JVM of the test, files = PATH";
      default -> "";
    };
  }

  private static int bit(FaultKind kind) {
    return switch (kind) {
      case WRITE_FAILS -> WRITE;
      case DISK_FULL -> GROWTH;
      case SHORT_WRITE -> LONG_WRITE;
      case FORCE_FAILS, FORCE_FAILS_CLEAN -> FORCE;
      case OPEN_FAILS -> OPEN;
      case CREATE_FAILS -> CREATE;
      case TRUNCATE_FAILS -> TRUNCATE;
      case RENAME_FAILS -> RENAME;
      case DELETE_FAILS -> DELETE;
      case READ_FAILS, OUT_OF_MEMORY, STACK_OVERFLOW, INTERRUPT -> 0;
      case ALLOCATION_FAILS, HEAP_FULL, CALL_OVERFLOWS -> 0;
    };
  }

  /**
   * Decides about a call, and counts it.
   *
   * @param possible what can fail in it
   * @return one of the four
   */
  int strike(Tape tape, int possible, long place, int stack) {
    for (int i = 0; i < BITS.length; i++) {
      if ((possible & BITS[i]) != 0) {
        tape.possible(i);
      }
    }
    if (nth == 0 || (possible & BITS[number]) == 0) {
      return NONE;
    }
    long now = tape.possibles(number);
    // A disk that is full stays full.
    if (kind == FaultKind.DISK_FULL ? now < nth : now != nth) {
      return NONE;
    }
    tape.struck(place, stack);
    return switch (kind) {
      case SHORT_WRITE -> HALF;
      case FORCE_FAILS_CLEAN -> FAILS_CLEAN;
      default -> FAILS;
    };
  }

  /** The error number of a failed call; of opendir as if the process had too many files open. */
  int errno(Call call) {
    return call == Call.OPENDIR ? EMFILE : kind == FaultKind.DISK_FULL ? ENOSPC : EIO;
  }
}
