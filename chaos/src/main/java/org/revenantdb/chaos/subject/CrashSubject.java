package org.revenantdb.chaos.subject;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.TestTemplate;

/**
 * Storage code under test: how to open it, make it work, and look at what came back.
 *
 * <p>The framework makes several instances with the constructor without parameters (which need not
 * be public), uses one in each of its threads, and some in forked JVMs. An instance keeps no state
 * that one of the methods would need from another; what belongs to a store is in the store.
 *
 * <p>A class with {@code @CrashTest} is a test class of JUnit 5. Without JUnit the same class is
 * run by {@code PowerCutRun}, {@code FaultRun} and {@code ProcessDeathRun}.
 *
 * {@snippet :
 * @CrashTest(crash = Crash.POWER_CUT, profile = PlatformProfile.EXT4_ORDERED, states = 2_000)
 * class MyStoreSurvives implements CrashSubject<MyStore> {
 *   public MyStore open(Path dir) { return MyStore.open(dir); }
 *   public void work(MyStore store, Promises p) {
 *     for (int i = 0; i < 100; i++) {
 *       store.put("k" + i % 7, "v" + i);
 *       store.commit();
 *       p.durable("k" + i % 7, "v" + i);
 *     }
 *   }
 *   public void check(MyStore store, Recovered r) { r.verify(store::get); }
 * }
 * }
 *
 * @param <S> the open store
 */
public interface CrashSubject<S> {

  /**
   * Opens the store, creating it if nothing is there, recovering it if there is something. It may
   * use any thread, but no file outside the directory, and no other API for files than {@link
   * Path}, {@code Files} and channels opened from a path.
   *
   * @param dir an empty directory, or what a crash left of one
   * @return the open store
   * @throws Exception if the store cannot be opened; on what a crash left that is a finding
   */
  S open(Path dir) throws Exception;

  /**
   * Makes the store work and says what it promised. Called once in each life, on an empty store
   * first and later on one that already holds the work of former lives. May use several threads
   * that have ended when it returns.
   *
   * @param store the open store
   * @param promises whom to tell
   * @throws Exception if the store fails, which on an intact disk breaks off the run
   */
  void work(S store, Promises promises) throws Exception;

  /**
   * Looks at a recovered store and has every answer compared with the promises.
   *
   * @param store the open store
   * @param recovered whom to ask
   * @throws Exception if the store cannot be read; a finding
   */
  void check(S store, Recovered recovered) throws Exception;

  /**
   * Closes the store in order.
   *
   * @param store the open store
   * @throws Exception if that fails
   */
  default void close(S store) throws Exception {
    if (store instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }

  /**
   * Proves that a recovered store accepts new work. It is closed, opened and checked afterwards.
   * Write a short one where {@link #work} is long.
   *
   * @param store the recovered store, already checked
   * @param promises whom to tell
   * @throws Exception if the store fails; a finding
   */
  default void resume(S store, Promises promises) throws Exception {
    work(store, promises);
  }

  /**
   * The kind of a file, for reports and for {@linkplain #seam call sites}.
   *
   * @param path relative to the directory under test, with {@code /} between names; empty for the
   *     directory itself
   * @return by default the path with every run of digits and hexadecimal numbers of eight digits or
   *     more replaced by {@code *}
   */
  default String kindOf(String path) {
    return FileKinds.generic(path);
  }

  /**
   * The classes through which the store touches its files. The site of an operation is the first
   * frame outside of them (and outside the JDK and this framework).
   *
   * @return names of classes, or of packages with a dot at the end; by default none
   */
  default List<String> seam() {
    return List.of();
  }

  /**
   * The classes that may force a file, to find call sites that no run reaches.
   *
   * @return classes whose archive or folder is searched, one for each; by default none, and then
   *     only sites that were reached are known
   */
  default List<Class<?>> code() {
    return List.of();
  }

  /**
   * Tells whether a failure is the store's clear word that its files are damaged. That is the right
   * answer to a damage that no store can mend, such as a flipped bit, and never to a crash.
   *
   * @param failure what {@link #open}, {@link #check} or {@link #resume} threw
   * @return by default true for an {@link java.io.IOException} and for every exception that is not
   *     the JDK's; false for an {@link Error} and for what a program throws that stumbles over bad
   *     bytes, such as {@link NullPointerException}, {@link IndexOutOfBoundsException} or {@link
   *     IllegalStateException}. What only wraps another exception counts as that one.
   */
  default boolean refuses(Throwable failure) {
    return Refusals.isClear(failure);
  }

  /**
   * What JUnit calls, once for each kind of crash and profile that {@code @CrashTest} names.
   *
   * @param crashCase one of them
   * @throws Exception never of its own; a finding is an {@link AssertionError}
   */
  @TestTemplate
  default void survives(CrashCase crashCase) throws Exception {
    crashCase.run();
  }
}
