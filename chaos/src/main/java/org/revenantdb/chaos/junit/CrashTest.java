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
import org.revenantdb.chaos.subject.FaultKind;
import org.revenantdb.chaos.subject.FileAccess;

/**
 * Makes a {@link CrashSubject} a test class of JUnit 5, with one test for each kind of crash and
 * profile.
 *
 * <p>A test passes only if every checked state survived. It fails if data was lost or is corrupt,
 * and if the subject or the framework is at fault. It is aborted (shown as skipped) if the crash
 * could not be observed here, for instance because the store maps a file for writing. Before the
 * first test of a kind, the framework proves that it finds a store which is broken on purpose.
 *
 * <p>The class implements {@link CrashSubject}, which provides the test method. Without the
 * interface and without a test method of its own, JUnit does not see a test class and reports
 * nothing.
 *
 * <p>System properties: {@code revenant.chaos.seed} and {@code revenant.chaos.states} override the
 * attributes. After {@code revenant.chaos.seconds} a test of power cuts or of a fault begins no
 * more states. {@code revenant.chaos.dir} (by default {@code target/chaos}) is the directory for
 * the files of failures. If {@code revenant.chaos.replay} is set to one of those files, the test
 * only opens that one state again. With {@code revenant.chaos.debug} it does so in a JVM of its
 * own, which waits at that port for a debugger before the store is opened.
 *
 * <p>A subject that calls {@link System#exit} during a power-cut test ends the JVM of the tests.
 * The call site is then printed to the standard error and written to {@code EXIT.txt} beside the
 * files of failures. {@link Runtime#halt} leaves no such trace: the build tool only reports that a
 * JVM ended. With {@link #isolated}, and in a process that is to be killed, the framework detects
 * both.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(CrashTestExtension.class)
public @interface CrashTest {

  /** Requests a new seed in each run. The seed is printed. */
  long FRESH_SEED = Long.MIN_VALUE;

  /**
   * The kinds of crash.
   *
   * @return by default a power cut
   */
  Crash[] crash() default {Crash.POWER_CUT};

  /**
   * How the store uses its files.
   *
   * <p>{@link FileAccess#ANY} runs the store in a forked JVM on a real directory. A power cut is
   * then built from what it did there, and the death of a process ({@link Crash#PROCESS_DEATH}) is
   * tried at every boundary between two operations, with {@link #states} as the maximum, instead of
   * by kills. Neither needs further libraries. On Linux with glibc native code is seen, too;
   * elsewhere a store that writes through native code is skipped. {@link #depth}, {@link
   * #failpoints} and {@link #zombies} need {@link FileAccess#PATH}.
   *
   * @return by default only through the given path
   */
  FileAccess files() default FileAccess.PATH;

  /**
   * Whether the images that crashes leave are opened in worker JVMs instead of the JVM of the test.
   *
   * <p>Without it several images are open at the same time in one JVM, each with a path of its own.
   * A store needs this attribute if it has static state that does not depend on the whole path (a
   * table of locks by file name, a singleton, a cache), if it may end its JVM, or if it leaves
   * threads behind. The framework detects that a failure needs it: it opens an image that failed
   * once more, alone in a fresh JVM. If that survives, the test is skipped, and the message names
   * this attribute.
   *
   * <p>A worker JVM never has two images open, and it is replaced when it has ended or hung, after
   * a failure, and after {@link #imagesPerJvm} images. What ends it is a failure of the image that
   * it opened. It costs about half a second of CPU for each of the {@link #workers}, and several
   * times the time of a state if the store is small. The recorded lives still run in the JVM of the
   * test. {@link FileAccess#ANY} always works like this, and {@link Crash#PROCESS_DEATH} has a JVM
   * for each life.
   *
   * @return by default false
   */
  boolean isolated() default false;

  /**
   * The number of images that a worker JVM opens, one after the other, before it is replaced. With
   * 1 no image can be hidden by what an earlier one left, and each costs the start of a JVM.
   *
   * @return by default 500; other numbers need {@link #isolated} or {@link FileAccess#ANY}
   */
  int imagesPerJvm() default 500;

  /**
   * Further flags of the JVMs that {@link FileAccess#ANY} or {@link #isolated} forks, for instance
   * {@code --add-opens}.
   *
   * @return by default none
   */
  String[] jvmFlags() default {};

  /**
   * What the platform may do to operations that were not forced. Not used for {@link
   * Crash#PROCESS_DEATH}.
   *
   * @return by default ext4 with ordered data
   */
  PlatformProfile[] profile() default {PlatformProfile.EXT4_ORDERED};

  /**
   * The maximum number of states after power cuts in the run. With a {@link #depth} of 2 or 3 the
   * states after crashes in recovery come on top, which may be as many again.
   *
   * @return by default 1000; 1 or more
   */
  int states() default 1000;

  /**
   * The number of processes that are killed.
   *
   * @return by default 10; 0 only with {@link #failpoints} or {@link #zombies}
   */
  int kills() default 10;

  /**
   * Whether further processes die at each place where the subject was seen to change its files, one
   * before and one after the operation, and at each {@link org.revenantdb.chaos.subject.Failpoint}.
   * If no such place was seen, or if the store also bypasses the given path, the test is skipped.
   * The report counts the places, and lists the deaths that did not take place.
   *
   * @return by default false; true needs {@link Crash#PROCESS_DEATH}
   */
  boolean failpoints() default false;

  /**
   * The number of processes that are stopped while another process opens the store, and then
   * continue.
   *
   * @return by default 0; it needs {@link Crash#PROCESS_DEATH}
   */
  int zombies() default 0;

  /**
   * Whether operations of the store also fail, one in each life. There is a test for each of the
   * {@link #faultKinds}. Nothing that was acknowledged may then be lost, also if the power is cut
   * later. The first of the {@link #profile}s is used, and each life has about one in twenty-five
   * of the {@link #states}, and at least 20.
   *
   * @return by default false
   */
  boolean faults() default false;

  /**
   * The faults. With {@link FileAccess#ANY} the test of a fault that hooks cannot make is skipped,
   * with the reason.
   *
   * @return by default the whole catalogue
   */
  FaultKind[] faultKinds() default {
    FaultKind.WRITE_FAILS,
    FaultKind.DISK_FULL,
    FaultKind.SHORT_WRITE,
    FaultKind.FORCE_FAILS,
    FaultKind.FORCE_FAILS_CLEAN,
    FaultKind.OPEN_FAILS,
    FaultKind.CREATE_FAILS,
    FaultKind.TRUNCATE_FAILS,
    FaultKind.RENAME_FAILS,
    FaultKind.DELETE_FAILS,
    FaultKind.READ_FAILS,
    FaultKind.OUT_OF_MEMORY,
    FaultKind.STACK_OVERFLOW,
    FaultKind.INTERRUPT,
    FaultKind.ALLOCATION_FAILS,
    FaultKind.HEAP_FULL,
    FaultKind.CALL_OVERFLOWS
  };

  /**
   * The beginnings of the names of the store's classes, for instance {@code "com.acme.store."}.
   * Behind {@code !} are those of classes that stay as they are ({@code "!com.acme.store.debug."}).
   * With {@link #faults} there are then tests that throw errors of the virtual machine in their
   * code: {@link FaultKind#ALLOCATION_FAILS}, {@link FaultKind#HEAP_FULL} and {@link
   * FaultKind#CALL_OVERFLOWS}. Each life throws at another place, so set {@link #faultLives} to
   * some hundred.
   *
   * <p>The subject, its superclasses, the outermost class around each of them and all classes
   * nested in these are never changed, except a nested class that is named here. Exclude other
   * helpers of the tests in the store's packages with {@code !}.
   *
   * <p>Such a life has the store's classes loaded once more, by a class loader that changes them.
   * What it leaves is opened in the JVM of the test, also with {@link #isolated}. It needs {@link
   * FileAccess#PATH}; with {@link FileAccess#ANY} these tests are skipped. The system property
   * {@code revenant.chaos.error} repeats one life; a failure prints its value.
   *
   * @return by default none, and then there are no such tests
   */
  String[] errorsIn() default {};

  /**
   * The number of lives for each kind of fault. Their operations are spread over the whole life.
   *
   * @return by default 4
   */
  int faultLives() default 4;

  /**
   * Whether the forces of one place in the code after the other are removed from the recording, to
   * see whether the test would notice. The test passes if each of them is needed. If it is not, the
   * test is skipped, and its message has the places: either the force is superfluous, or {@link
   * CrashSubject#work} and {@link CrashSubject#check} do not show what it is for.
   *
   * @return by default false
   */
  boolean forceCoverage() default false;

  /**
   * The seed, which repeats a run.
   *
   * @return by default {@link #FRESH_SEED}
   */
  long seed() default FRESH_SEED;

  /**
   * A text file of failures that are accepted, relative to the working directory. A failure with
   * another root cause fails the test. A cause in the file that was not seen is told and fails
   * nothing, because a short run can miss it. With the system property {@code
   * revenant.chaos.baseline.write=true} new causes are added to the file.
   *
   * @return by default none: every failure fails the test
   */
  String baseline() default "";

  /**
   * The depth of power cuts.
   *
   * @return by default 1: power is cut during the run; 2: also during the recovery; 3: also during
   *     the recovery after that
   */
  int depth() default 1;

  /**
   * The number of pending operations up to which every subset is tried.
   *
   * @return by default 4
   */
  int exhaustive() default 4;

  /**
   * The number of times that the store is opened, worked with and closed while it is recorded.
   *
   * @return by default 2, so that work on a store with content is recorded, too
   */
  int lives() default 2;

  /**
   * The number of threads that check states.
   *
   * @return by default 0: one for each processor
   */
  int workers() default 0;

  /**
   * The time after which a step of the recorded lives, or a state, counts as hanging. Seconds in
   * which this machine would not have let a thread work are not counted.
   *
   * @return by default 60
   */
  int timeoutSeconds() default 60;
}
