package org.revenantdb.chaos.subject;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.TestTemplate;

/**
 * Storage code under test: how to open it, run work on it, and check what a crash left.
 *
 * <p>The framework creates several instances through the constructor without parameters, which need
 * not be public. Each of its threads uses its own instance, and forked JVMs use others. Keep no
 * state in an instance that a later call needs; keep it in the store.
 *
 * <p>A class with {@code @CrashTest} is a test class of JUnit 5. Without JUnit, {@code
 * PowerCutRun}, {@code FaultRun} and {@code ProcessDeathRun} run the same class.
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
   * Opens the store. Creates it if the directory is empty, recovers it otherwise. The method may
   * use any thread. It must not use a file outside the directory. With {@link FileAccess#PATH} it
   * uses no file API other than {@link Path}, {@code Files} and channels opened from a path.
   *
   * @param dir an empty directory, or the directory that a crash left
   * @return the open store
   * @throws Exception if the store cannot be opened; after a crash this is a finding
   */
  S open(Path dir) throws Exception;

  /**
   * Runs work on the store and reports what the store promised. Called once in each life: first on
   * an empty store, later on a store with the work of former lives. It may use several threads, all
   * of which must have ended when it returns.
   *
   * <p>If it throws, it must release what it holds in the store, such as an open transaction. After
   * an error in the code of the store, another thread works on the same open store.
   *
   * @param store the open store
   * @param promises receives what the store promised
   * @throws Exception if the store fails; on an intact disk this ends the run
   */
  void work(S store, Promises promises) throws Exception;

  /**
   * Checks a recovered store: every answer is compared with the promises.
   *
   * @param store the open store
   * @param recovered compares the answers
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
   * Proves that a recovered store accepts new work. The store is closed, opened and checked
   * afterwards. Override this with a short piece of work if {@link #work} takes long.
   *
   * <p>After an error in the code of the store it also runs on the store that is still open, with
   * the work half done and nothing checked.
   *
   * @param store the recovered store, already checked; or the one that had the error
   * @param promises receives what the store promised
   * @throws Exception if the store fails; a finding
   */
  default void resume(S store, Promises promises) throws Exception {
    work(store, promises);
  }

  /**
   * Returns the kind of a file, for reports and for {@linkplain #seam call sites}.
   *
   * @param path relative to the directory under test, with {@code /} between names; empty for the
   *     directory itself
   * @return by default the path with {@code *} in place of each run of digits and of each
   *     hexadecimal number of eight digits or more
   */
  default String kindOf(String path) {
    return FileKinds.generic(path);
  }

  /**
   * Returns the classes through which the store accesses its files. The site of an operation is the
   * first stack frame outside these classes, the JDK and this framework.
   *
   * @return names of classes, or of packages with a dot at the end; by default none
   */
  default List<String> seam() {
    return List.of();
  }

  /**
   * Returns the classes that may force a file, to find call sites that no run reaches.
   *
   * @return one class for each archive or folder to search; by default none, and then only sites
   *     that a run reached are known
   */
  default List<Class<?>> code() {
    return List.of();
  }

  /**
   * Returns whether a lazy commit that was accepted survives the death of its process, so that only
   * a power cut can take it back. Runs that kill processes then treat it as durable.
   *
   * @return false by default
   */
  default boolean keepsLazyWhenKilled() {
    return false;
  }

  /**
   * Returns whether an exception is a clear report of the store that its files are damaged. Such a
   * report is the right answer to damage that no store can repair, for instance a flipped bit. It
   * is never the right answer to a crash.
   *
   * @param failure what {@link #open}, {@link #check} or {@link #resume} threw
   * @return by default true for an {@link java.io.IOException} and for every exception type that is
   *     not the JDK's. False for an {@link Error} and for exceptions that damaged bytes can cause
   *     by accident, such as {@link NullPointerException}, {@link IndexOutOfBoundsException} or
   *     {@link IllegalStateException}. An exception that only wraps another one is judged by the
   *     wrapped one.
   */
  default boolean refuses(Throwable failure) {
    return Refusals.isClear(failure);
  }

  /**
   * The test method that JUnit calls, once for each kind of crash and each profile of
   * {@code @CrashTest}.
   *
   * @param crashCase one of them
   * @throws Exception if the case throws; a finding is an {@link AssertionError}
   */
  @TestTemplate
  default void survives(CrashCase crashCase) throws Exception {
    crashCase.run();
  }
}
