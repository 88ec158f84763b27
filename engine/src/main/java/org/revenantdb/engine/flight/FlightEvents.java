package org.revenantdb.engine.flight;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Reports what the engine does to the flight recorder, if there is one and it has been started.
 *
 * <p>An event that has a duration is begun and ended by the same thread; {@code begin...} returns
 * null if it is not recorded.
 *
 * <p>Threads: any, with latches held. Failure: none; an event that lacks memory or stack is lost.
 */
public final class FlightEvents {
  /*
   * Without jdk.jfr   the classes of the events cannot be loaded. So only methods that run when AVAILABLE is true refer
   *                   to them, and they are passed as Objects.
   *
   * Cost              without a recording a constant, and a read of a field of the flight recorder. Loading the classes
   *                   would start the flight recorder, so they are loaded only after it was started.
   */
  private static final boolean AVAILABLE = isAvailable();

  private FlightEvents() {}

  /** Whether events may be created: the flight recorder was started. */
  public static boolean isRecording() {
    return AVAILABLE && isStarted();
  }

  private static boolean isStarted() {
    return FlightRecorder.isInitialized();
  }

  /** Takes the start of a commit. */
  public static @Nullable Object beginCommit() {
    try {
      return isRecording() ? begunCommit() : null;
    } catch (VirtualMachineError | LinkageError e) {
      return null; // one event is lost
    }
  }

  /** Reports a commit that has ended well. */
  public static void endCommit(
      @Nullable Object begun, long transaction, @Nullable String name, String durability) {
    try {
      if (begun != null) {
        commitEnded(begun, transaction, name, durability);
      }
    } catch (VirtualMachineError | LinkageError e) {
      return; // one event is lost
    }
  }

  /** Reports a conflict that a transaction is told of. */
  public static void conflict(String reason, String message, long holder) {
    try {
      if (isRecording()) {
        conflictMet(reason, message, holder);
      }
    } catch (VirtualMachineError | LinkageError e) {
      return; // one event is lost
    }
  }

  /** Takes the start of a round of the checkpointer. */
  public static @Nullable Object beginCheckpoint() {
    try {
      return isRecording() ? begunCheckpoint() : null;
    } catch (VirtualMachineError | LinkageError e) {
      return null; // one event is lost
    }
  }

  /** Reports a round that has ended. */
  public static void endCheckpoint(@Nullable Object begun, long redoPointBefore, long redoPoint) {
    try {
      if (begun != null) {
        checkpointEnded(begun, redoPointBefore, redoPoint);
      }
    } catch (VirtualMachineError | LinkageError e) {
      return; // one event is lost
    }
  }

  /** Takes the start of a pass of the cleaner. */
  public static @Nullable Object beginCleanerPass() {
    try {
      return isRecording() ? begunCleanerPass() : null;
    } catch (VirtualMachineError | LinkageError e) {
      return null; // one event is lost
    }
  }

  /** Reports a pass that has ended. */
  public static void endCleanerPass(
      @Nullable Object begun, long changes, long aborted, long pages) {
    try {
      if (begun != null) {
        cleanerPassEnded(begun, changes, aborted, pages);
      }
    } catch (VirtualMachineError | LinkageError e) {
      return; // one event is lost
    }
  }

  /** Reports that a page was split. */
  public static void split(int table, int level, boolean isRoot) {
    try {
      if (isRecording()) {
        pageSplit(table, level, isRoot);
      }
    } catch (VirtualMachineError | LinkageError e) {
      return; // one event is lost
    }
  }

  /** Takes the start of a spill of older versions. */
  public static @Nullable Object beginSpill() {
    try {
      return isRecording() ? begunSpill() : null;
    } catch (VirtualMachineError | LinkageError e) {
      return null; // one event is lost
    }
  }

  /** Reports a spill that has ended. */
  public static void endSpill(@Nullable Object begun, long versions) {
    try {
      if (begun != null) {
        spillEnded(begun, versions);
      }
    } catch (VirtualMachineError | LinkageError e) {
      return; // one event is lost
    }
  }

  // ------------------------------------------------------------------- only during a recording

  private static @Nullable Object begunCommit() {
    CommitEvent event = new CommitEvent();
    event.begin();
    return event.isEnabled() ? event : null;
  }

  private static void commitEnded(
      Object begun, long transaction, @Nullable String name, String durability) {
    CommitEvent event = (CommitEvent) begun;
    event.end();
    if (event.shouldCommit()) {
      event.transaction = transaction;
      event.name = name;
      event.durability = durability;
      event.commit();
    }
  }

  private static void conflictMet(String reason, String message, long holder) {
    ConflictEvent event = new ConflictEvent();
    if (event.isEnabled()) {
      event.reason = reason;
      event.text = message;
      event.holder = holder;
      event.commit();
    }
  }

  private static @Nullable Object begunCheckpoint() {
    CheckpointEvent event = new CheckpointEvent();
    event.begin();
    return event.isEnabled() ? event : null;
  }

  private static void checkpointEnded(Object begun, long redoPointBefore, long redoPoint) {
    CheckpointEvent event = (CheckpointEvent) begun;
    event.redoPointBefore = redoPointBefore;
    event.redoPoint = redoPoint;
    event.commit();
  }

  private static @Nullable Object begunCleanerPass() {
    CleanerPassEvent event = new CleanerPassEvent();
    event.begin();
    return event.isEnabled() ? event : null;
  }

  private static void cleanerPassEnded(Object begun, long changes, long aborted, long pages) {
    CleanerPassEvent event = (CleanerPassEvent) begun;
    event.changes = changes;
    event.aborted = aborted;
    event.pages = pages;
    event.commit();
  }

  private static void pageSplit(int table, int level, boolean isRoot) {
    SplitEvent event = new SplitEvent();
    if (event.isEnabled()) {
      event.table = table;
      event.level = level;
      event.root = isRoot;
      event.commit();
    }
  }

  private static @Nullable Object begunSpill() {
    SpillEvent event = new SpillEvent();
    event.begin();
    return event.isEnabled() ? event : null;
  }

  private static void spillEnded(Object begun, long versions) {
    SpillEvent event = (SpillEvent) begun;
    event.versions = versions;
    event.commit();
  }

  private static boolean isAvailable() {
    try {
      Class.forName("jdk.jfr.Event", /* initialize= */ false, FlightEvents.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
