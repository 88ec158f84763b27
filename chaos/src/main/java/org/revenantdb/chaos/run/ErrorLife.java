package org.revenantdb.chaos.run;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.inject.InjectedClasses;
import org.revenantdb.chaos.inject.Injector;
import org.revenantdb.chaos.inject.Target;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.trace.CallStack;

/**
 * A life on a disk in memory, with errors of the virtual machine in the code of the store. The
 * README of the package {@code inject} says what happens in which thread.
 *
 * @param <S> the open store
 */
final class ErrorLife<S> extends MemoryLife<S> {

  private static final int PROBE = -3;

  /** A chain of causes may be a circle. */
  private static final int MOST_LINKS = 100;

  /** Exceptions of the JDK that mistakes cause, and no store throws to report an error. */
  private static final List<Class<? extends Throwable>> MISTAKES =
      List.of(
          NullPointerException.class,
          IndexOutOfBoundsException.class,
          ClassCastException.class,
          ArrayStoreException.class,
          NegativeArraySizeException.class,
          IllegalMonitorStateException.class,
          AssertionError.class);

  private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.");

  /** Without the target, which is another one in each life. */
  private final String name;

  private final InjectedClasses classes;
  private final boolean inherits;
  private final int idle;
  private final Injector injector;
  private final Supplier<CrashSubject<S>> injected;
  private final Runnable spoilt;

  /** The thread that does the present step. */
  private volatile @Nullable Thread at;

  private volatile boolean opened;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable Throwable afterRelief;
  private volatile @Nullable Throwable inClose;

  /**
   * Prepares a life.
   *
   * @param plain creates subjects for the life after it
   * @param classes of this life
   * @param inherits whether they had an armed life before
   * @param idle how many threads a life without errors leaves, such as those of a static pool
   * @param injectors creates what counts or throws, with the clock of the life
   * @param spoilt called if the classes must not be used again
   */
  ErrorLife(
      Supplier<CrashSubject<S>> plain,
      PowerCutOptions options,
      FaultCase fault,
      InjectedClasses classes,
      boolean inherits,
      int idle,
      Function<LongSupplier, Injector> injectors,
      Runnable spoilt)
      throws IOException {
    super(plain, options, fault);
    this.name = fault.name();
    this.classes = classes;
    this.inherits = inherits;
    this.idle = idle;
    this.injector = injectors.apply(clock()::next);
    this.spoilt = spoilt;
    this.injected = Subjects.of(classes.subject());
  }

  @Override
  public Lived live() throws IOException {
    CrashSubject<S> subject = injected.get(); // no part of the life
    classes.inject(injector);
    TimedCall call;
    try {
      call = TimedCall.run("a life with " + name, options().limit(), step -> work(subject, step));
    } finally {
      injector.relieve();
      classes.inject(null);
      endProcess(); // a store whose close has failed may still be at work
    }
    Error first = injector.first();
    String told = first == null ? "" : "\nthe injected error:\n" + CallStack.text(first);
    Throwable thrown = failed();
    String complaint = call.complaint();
    if (call.hangs()) {
      complaint += stackOfStep();
    } else if (complaint.isEmpty() && thrown != null) {
      complaint = "the life failed: " + CallStack.text(thrown);
    }
    String broken = broken(call, told);
    if (leavesSomething(call, broken, first != null)) {
      spoilt.run();
    }
    return new Lived(
        first != null,
        first == null ? CallStack.UNKNOWN : new CallStack(List.of(first.getStackTrace())),
        injector.firstAt(),
        call.hangs(),
        complaint.isEmpty() ? "" : complaint + told,
        thrown,
        broken,
        /* unmeasured= */ "");
  }

  @Override
  public String faultOfSubject() {
    Throwable mistake = mistake();
    return mistake == null || !isOfSubject(mistake)
        ? ""
        : "the subject, and not the store, failed after an error: " + CallStack.text(mistake);
  }

  @Override
  public String repeats() {
    Target precise = injector.precise();
    return precise == null ? "" : ErrorFaults.repeating(precise);
  }

  @Override
  public boolean inherits() {
    return inherits;
  }

  /** Whether static state or threads of this life may disturb the next one in these classes. */
  private boolean leavesSomething(TimedCall call, String broken, boolean struck) {
    return call.hangs()
        || !broken.isEmpty()
        || (!struck && failed() != null)
        || !opened
        || inClose != null
        || classes.threads() > idle;
  }

  private @Nullable Throwable failed() {
    Throwable thrown = failure != null ? failure : afterRelief;
    return thrown != null ? thrown : inClose;
  }

  private String broken(TimedCall call, String told) {
    if (call.hangs()) {
      return "";
    }
    Throwable mistake = mistake();
    if (mistake != null && !isOfSubject(mistake)) {
      return "a call failed with an exception that reports no error: "
          + CallStack.text(mistake)
          + told;
    }
    return failed() == null && !call.complaint().isEmpty()
        ? "a thread of the store died, and no call failed: " + call.complaint() + told
        : "";
  }

  private @Nullable Throwable mistake() {
    Throwable inWork = failure;
    Throwable later = afterRelief;
    if (inWork != null && isMistake(inWork)) {
      return inWork;
    }
    if (later != null && isMistake(later)) {
      return later;
    }
    Throwable last = inClose;
    return last != null && isMistake(last) ? last : null;
  }

  private static boolean isMistake(Throwable thrown) {
    if (MISTAKES.stream().noneMatch(type -> type.isInstance(thrown))) {
      return false;
    }
    int links = 0;
    for (@Nullable Throwable link = thrown;
        link != null && links < MOST_LINKS;
        link = link.getCause()) {
      if (link instanceof VirtualMachineError || suppresses(link)) {
        return false;
      }
      links++;
    }
    return true;
  }

  /** Whether code of the subject has thrown it. An assertion there tells of the store. */
  private boolean isOfSubject(Throwable mistake) {
    if (mistake instanceof AssertionError) {
      return false;
    }
    for (StackTraceElement frame : mistake.getStackTrace()) {
      String type = frame.getClassName();
      if (JDK.stream().noneMatch(type::startsWith)) {
        if (classes.isOfSubject(type)) {
          return true;
        }
        if (classes.isOfStore(type)) {
          return false;
        }
      }
    }
    return false;
  }

  private static boolean suppresses(Throwable thrown) {
    return Arrays.stream(thrown.getSuppressed())
        .anyMatch(suppressed -> suppressed instanceof VirtualMachineError);
  }

  /** The step may hang in another thread than the one that is watched. */
  private String stackOfStep() {
    Thread thread = at;
    return thread == null
        ? ""
        : "\nthe thread of that step:\n"
            + new CallStack(List.of(thread.getStackTrace())).text()
            + "\nIf it waits for something that the subject had begun when the error came, such as"
            + " an open transaction: work must release it when it throws.";
  }

  private void work(CrashSubject<S> subject, TimedCall.Step step) throws InterruptedException {
    Thread.currentThread().setContextClassLoader(classes);
    @Nullable S store = null;
    try {
      step.now("open with " + name);
      store = subject.open(store());
      opened = true;
      step.now("work with " + name);
      subject.work(store, promises().promises(clock(), options().seed()));
    } catch (Exception
        | Error e) { // any exception of a subject, also for an interrupt of the store
      failure = e;
    }
    if (step.isAbandoned()) {
      return; // the files are judged already
    }
    boolean struck = injector.first() != null;
    if (struck) {
      injector.relieve();
    }
    S left = store;
    if (left != null) {
      // The store may have set the flag, which would end the join.
      Thread.interrupted();
      Thread other =
          Thread.ofPlatform()
              .daemon()
              .name("subject, another thread")
              .unstarted(() -> afterwards(subject, left, struck, step));
      at = other;
      other.start();
      other.join();
      at = null;
    }
  }

  /** In a thread of its own, which waits for whatever the first one has left locked. */
  private void afterwards(CrashSubject<S> subject, S store, boolean struck, TimedCall.Step step) {
    if (struck) {
      step.now("new work in another thread after " + name);
      try {
        subject.resume(store, promises().promises(clock(), Seeds.of(options().seed(), PROBE)));
      } catch (Exception | Error e) { // the store tells that it is broken, or works
        afterRelief = e;
      }
    }
    step.now("close in another thread after " + name);
    try {
      subject.close(store);
    } catch (Exception | Error e) { // the same
      inClose = e;
    }
  }
}
