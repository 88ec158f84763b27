package org.revenantdb.chaos.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.Crash;
import org.revenantdb.chaos.subject.CrashSubject;

/**
 * Makes a {@link CrashSubject} a test class of JUnit 5, with one test for each kind of crash and
 * profile.
 *
 * <p>A test is green only if every state that was looked at survived. It is red for what was lost
 * or is corrupt, and for a subject or a framework that is at fault; it is aborted (shown as
 * skipped) if the crash could not be seen here, for instance because the store maps a file for
 * writing. Before the first test of a kind the framework proves that it finds a store that is
 * broken on purpose.
 *
 * <p>The class implements {@link CrashSubject}, which brings the test method; without that, and
 * without a test method of its own, JUnit does not take it for a test class and says nothing.
 *
 * <p>{@link Crash#PROCESS_DEATH} needs {@code net.openhft:chronicle-bytes} on the test class path,
 * in the version that the POM of {@code revenant-chaos} names. Without it such a test is skipped,
 * and says which one to add.
 *
 * <p>System properties: {@code revenant.chaos.seed} and {@code revenant.chaos.states} override the
 * attributes; {@code revenant.chaos.dir} (by default {@code target/chaos}) is where the files of
 * failures go; {@code revenant.chaos.replay} names one of those files, and the test does nothing
 * else than open that one state again.
 *
 * <p>A subject that calls {@link System#exit} under a power cut takes the JVM of the tests along.
 * Where it did so is then on the standard error and in the file {@code EXIT.txt} beside those of
 * failures. {@link Runtime#halt} runs nothing of the framework any more: all that is seen of it is
 * that the build tool complains of a JVM that went away. In a process that is to be killed, both
 * are found.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(CrashTestExtension.class)
public @interface CrashTest {

  /** Stands for another seed in each run, which is printed. */
  long FRESH_SEED = Long.MIN_VALUE;

  /**
   * The kinds of crash.
   *
   * @return by default a power cut
   */
  Crash[] crash() default {Crash.POWER_CUT};

  /**
   * What platforms may do to operations that nobody forced. (Says nothing about the death of a
   * process.)
   *
   * @return by default ext4 with ordered data
   */
  PlatformProfile[] profile() default {PlatformProfile.EXT4_ORDERED};

  /**
   * How many states of the run a power cut leaves at most. With a {@link #depth} of 2 or 3 the
   * states of recoveries come on top, which may be as many again.
   *
   * @return by default 1000; 1 or more
   */
  int states() default 1000;

  /**
   * How many processes are killed.
   *
   * @return by default 10; 0 only with {@link #failpoints} or {@link #zombies}
   */
  int kills() default 10;

  /**
   * Whether one process more dies before and one after each place where the subject was seen to
   * change its files, and at each {@link org.revenantdb.chaos.subject.Failpoint}.
   *
   * @return by default not; it needs {@link Crash#PROCESS_DEATH}
   */
  boolean failpoints() default false;

  /**
   * How many processes are stopped while another one opens the store, and then go on.
   *
   * @return by default 0; it needs {@link Crash#PROCESS_DEATH}
   */
  int zombies() default 0;

  /**
   * What repeats a run.
   *
   * @return by default {@link #FRESH_SEED}
   */
  long seed() default FRESH_SEED;

  /**
   * How deep power cuts go.
   *
   * @return by default 1: the run is cut; 2: what its recovery does as well; 3: and the recovery
   *     after that
   */
  int depth() default 1;

  /**
   * Up to how many pending operations every subset is tried.
   *
   * @return by default 4
   */
  int exhaustive() default 4;

  /**
   * How often the store is opened, worked with and closed while it is recorded.
   *
   * @return by default 2, so that work on a store that holds something is recorded, too
   */
  int lives() default 2;

  /**
   * Threads that check states.
   *
   * @return by default 0: as many as there are processors
   */
  int workers() default 0;

  /**
   * How long each step of the recorded lives, and each state, may take before it counts as hanging.
   * Seconds in which this machine would not have let it work are not counted.
   *
   * @return by default 60
   */
  int timeoutSeconds() default 60;
}
