package org.revenantdb.chaos.hooks;

import java.nio.file.Path;
import java.util.List;

/** Records what a JVM does to the files of one directory. It is in that JVM. */
interface ProcessRecorder {

  /**
   * Prepares to record, and tries it.
   *
   * @param trial an empty directory of its own, an absolute path without symbolic links
   * @param onto receives the record of the trial
   * @throws Throwable if this process cannot be recorded
   */
  void install(Path trial, Tape onto) throws Throwable;

  /**
   * Begins to record, with an empty tape.
   *
   * @param directory the directory under test, empty, an absolute path without symbolic links
   * @param onto receives the record
   * @param injected the faults
   * @param countsOpenings whether openings that change nothing are recorded too
   * @throws Throwable if this process cannot be recorded
   */
  void start(Path directory, Tape onto, Faults injected, boolean countsOpenings) throws Throwable;

  /**
   * Begins to record behind what another process has recorded, on the files that it left.
   *
   * @param directory the directory under test
   * @param onto has the record of that process
   * @param lastPlace the last place that it took, or a later one
   * @param existing all that is in the directory
   * @throws Throwable if this process cannot be recorded
   */
  void continueIn(Path directory, Tape onto, long lastPlace, List<Path> existing) throws Throwable;

  /** Order, promises and controls. */
  Journal journal();

  /** Ends the process at once. */
  void end(int code);
}
