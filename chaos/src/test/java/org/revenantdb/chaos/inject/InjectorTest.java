package org.revenantdb.chaos.inject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassFile;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What changed classes count and throw. */
class InjectorTest {

  private static final String CODE = Allocating.class.getName();
  private static final List<String> ALL =
      List.of(
          "created",
          "array",
          "objects",
          "cube",
          "boxed",
          "concatenated",
          "captured",
          "pushed",
          "deep");

  private final InjectedClasses.Source source =
      new InjectedClasses.Source(Allocating.class, List.of(CODE, "!" + CODE + "$"));
  private final AtomicLong clock = new AtomicLong();

  /** The subject is never changed, so the code is loaded beside it. */
  private final InjectedClasses classes =
      new InjectedClasses.Source(InjectorTest.class, List.of(CODE)).load();

  private final ErrorSites sites = classes.sites();

  private List<String> run(Injector injector) throws ReflectiveOperationException {
    return run(CODE, classes, injector);
  }

  @SuppressWarnings("unchecked")
  private static List<String> run(String name, InjectedClasses classes, Injector injector)
      throws ReflectiveOperationException {
    Class<?> code = Class.forName(name, true, classes);
    assertNotSame(Allocating.class, code);
    Supplier<List<String>> made =
        (Supplier<List<String>>) code.getDeclaredConstructor().newInstance();
    classes.inject(injector);
    try {
      return made.get();
    } finally {
      classes.inject(null);
    }
  }

  private Injector at(Target target) {
    return Injector.at(sites, target, clock::incrementAndGet);
  }

  @Test
  void each_kind_of_allocation_is_a_point() throws ReflectiveOperationException {
    Injector injector = Injector.counting(sites);
    assertEquals(ALL, run(injector));
    Map<String, Long> counts =
        injector.counts(ErrorSite.Kind.ALLOCATION).entrySet().stream()
            .filter(entry -> !entry.getKey().of().equals("java.util.List.add"))
            .collect(
                Collectors.toMap(
                    entry -> entry.getKey().method() + " " + entry.getKey().of(),
                    Map.Entry::getValue));
    assertEquals(
        Set.of(
            "created java.lang.StringBuilder",
            "created java.lang.StringBuilder.<init>",
            "created java.lang.StringBuilder.toString",
            "array byte[]",
            "objects java.lang.Object[]",
            "cube int[][][]",
            "boxed java.lang.Integer.valueOf",
            "captured java.util.function.IntSupplier",
            "pushed java.util.Deque.push"),
        counts.keySet().stream()
            .filter(name -> !name.startsWith("concatenated"))
            .collect(Collectors.toSet()));
    // By invokedynamic or by a StringBuilder, as the compiler is told.
    assertTrue(
        counts.keySet().stream().anyMatch(name -> name.startsWith("concatenated java.lang.String")),
        counts::toString);
    assertTrue(
        counts.keySet().stream().noneMatch(name -> name.endsWith("String.length")),
        counts::toString);
    assertEquals(
        9L,
        injector.counts(ErrorSite.Kind.ALLOCATION).entrySet().stream()
            .filter(entry -> entry.getKey().of().equals("java.util.List.add"))
            .mapToLong(Map.Entry::getValue)
            .sum());
    assertEquals(Map.of(), sites.unchanged());
  }

  @Test
  void each_method_is_a_point_and_a_static_initializer_is_none()
      throws ReflectiveOperationException {
    Injector injector = Injector.counting(sites);
    run(injector);
    Map<String, Long> calls =
        injector.counts(ErrorSite.Kind.CALL).entrySet().stream()
            .collect(
                Collectors.toMap(entry -> entry.getKey().method(), Map.Entry::getValue, Long::sum));
    assertEquals(6, calls.get("deep"));
    assertEquals(2, calls.get("get"), "with the bridge");
    List<String> methods =
        IntStream.range(0, sites.size()).mapToObj(i -> sites.get(i).method()).toList();
    assertTrue(methods.contains("deep"), methods::toString);
    assertFalse(methods.contains("<clinit>"), methods::toString);
  }

  @Test
  void the_nth_allocation_of_a_class_throws_once_and_has_had_no_effect()
      throws ReflectiveOperationException {
    Injector injector = at(Target.allocation(3).of("java.util.List.add"));
    OutOfMemoryError error = assertThrows(OutOfMemoryError.class, () -> run(injector));
    assertEquals(CODE, error.getStackTrace()[0].getClassName(), error::toString);
    assertTrue(String.valueOf(error.getMessage()).contains(CODE + ".objects:"), error::toString);
    assertEquals(1, injector.thrown());
    assertEquals(1, injector.firstAt());
    assertEquals(error, injector.first());
    assertEquals(ALL, run(injector), "relieved");
  }

  @Test
  void after_the_first_allocation_that_fails_all_do_until_the_errors_are_used_up()
      throws ReflectiveOperationException {
    Injector injector = at(Target.allocation(1).in(CODE + ".array").errors(3));
    for (int i = 0; i < 3; i++) {
      assertThrows(OutOfMemoryError.class, () -> run(injector));
    }
    assertEquals(ALL, run(injector));
    assertEquals(3, injector.thrown());
    assertEquals(1, clock.get(), "one place, of the first");
  }

  @Test
  void a_full_heap_is_relieved() throws ReflectiveOperationException {
    Injector injector = at(Target.allocation(1).errors(Target.MOST_ERRORS));
    assertThrows(OutOfMemoryError.class, () -> run(injector));
    injector.relieve();
    assertEquals(ALL, run(injector));
  }

  @Test
  void a_call_at_a_depth_overflows() throws ReflectiveOperationException {
    Injector counts = Injector.counting(sites);
    run(counts);
    Injector injector = at(Target.call(4).in(CODE + ".deep"));
    StackOverflowError error = assertThrows(StackOverflowError.class, () -> run(injector));
    long frames =
        List.of(error.getStackTrace()).stream()
            .filter(frame -> frame.getMethodName().equals("deep"))
            .count();
    assertEquals(4, frames);
    int depth = error.getStackTrace().length;
    Injector deeper = at(Target.call(1).in(CODE + ".deep").deeperThan(depth));
    StackOverflowError second = assertThrows(StackOverflowError.class, () -> run(deeper));
    assertEquals(depth + 1, second.getStackTrace().length);
  }

  @Test
  void a_stack_that_has_ended_has_room_for_calls_nearer_to_its_bottom()
      throws ReflectiveOperationException {
    Injector injector = at(Target.call(3).in(CODE + ".deep").errors(Target.MOST_ERRORS));
    assertThrows(StackOverflowError.class, () -> run(injector));
    // The methods before it are not as deep, so the same call fails again, and no earlier one.
    StackOverflowError again = assertThrows(StackOverflowError.class, () -> run(injector));
    assertTrue(String.valueOf(again.getMessage()).contains(".deep:"), again::toString);
    assertEquals(2, injector.thrown());
  }

  @Test
  void in_a_static_initializer_nothing_is_thrown() throws ReflectiveOperationException {
    Injector injector = at(Target.call(1).in(CODE + ".early"));
    classes.inject(injector);
    try {
      Class.forName(CODE, true, classes);
    } finally {
      classes.inject(null);
    }
    assertEquals(0, injector.thrown());
    assertEquals(ALL, run(Injector.counting(sites)));
  }

  @Test
  void the_subject_and_classes_that_are_excluded_have_no_points() throws Exception {
    InjectedClasses same = source.load();
    assertNotSame(Allocating.class, same.subject());
    assertEquals(0, source.sites().size());

    InjectedClasses excluded =
        new InjectedClasses.Source(InjectorTest.class, List.of(CODE, "!" + CODE)).load();
    assertNotSame(Allocating.class, Class.forName(CODE, true, excluded));
    assertEquals(0, excluded.sites().size());
  }

  @Test
  void what_no_virtual_machine_allocates_is_no_point() throws ReflectiveOperationException {
    String code = Modest.class.getName();
    InjectedClasses modest = new InjectedClasses.Source(InjectorTest.class, List.of(code)).load();
    Injector counts = Injector.counting(modest.sites());
    assertEquals(List.of(), run(code, modest, counts));
    assertEquals(Map.of(), counts.counts(ErrorSite.Kind.ALLOCATION));
  }

  /** A subject that is nested, with a class beside it. */
  private static class Subject {
    private static final class Beside {}
  }

  private static final class Derived extends Subject {}

  @Test
  void the_classes_around_the_subject_are_left_alone() {
    String test = InjectorTest.class.getName();
    PointTransformer all =
        new PointTransformer(new ErrorSites(), List.of("org.revenantdb."), Derived.class);
    for (Class<?> type :
        List.of(Subject.class, Subject.Beside.class, Derived.class, InjectorTest.class)) {
      assertFalse(all.isChosen(type.getName()), type::getName);
    }
    assertTrue(all.isChosen(CODE));
    PointTransformer named =
        new PointTransformer(
            new ErrorSites(), List.of(Subject.Beside.class.getName()), Derived.class);
    assertTrue(named.isChosen(Subject.Beside.class.getName()), test);
  }

  @Test
  void an_overflow_tells_the_line_of_its_method() {
    Injector injector = at(Target.call(1).in(CODE + ".array"));
    StackOverflowError error = assertThrows(StackOverflowError.class, () -> run(injector));
    assertTrue(error.getStackTrace()[0].getLineNumber() > 0, error::toString);
  }

  @Test
  void the_precise_target_counts_the_hits_of_its_place_only() throws Exception {
    run(Injector.counting(sites)); // loads the class
    Injector injector = at(Target.call(7));
    StackOverflowError error = assertThrows(StackOverflowError.class, () -> run(injector));
    Target precise = injector.precise();
    assertTrue(precise != null && precise.nth() == 1, () -> String.valueOf(precise));
    StackOverflowError again = assertThrows(StackOverflowError.class, () -> run(at(precise)));
    assertEquals(error.getMessage(), again.getMessage());
  }

  @Test
  void an_injector_that_is_relieved_while_it_strikes_stays_relieved() throws Exception {
    AtomicReference<Injector> made = new AtomicReference<>();
    Thread other = new Thread(() -> made.get().relieve());
    LongSupplier places =
        () -> {
          other.start();
          while (other.isAlive() && other.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
          }
          return 1;
        };
    Injector injector = Injector.at(sites, Target.allocation(1).errors(Target.MOST_ERRORS), places);
    made.set(injector);
    assertThrows(OutOfMemoryError.class, () -> run(injector));
    other.join();
    assertEquals(ALL, run(injector));
  }

  @Test
  void a_method_that_is_built_again_for_its_long_jumps_has_each_point_once() {
    int count = 4_000;
    byte[] code =
        ClassFile.of()
            .build(
                ClassDesc.of("Far"),
                type ->
                    type.withMethodBody(
                        "far",
                        MethodTypeDesc.of(ConstantDescs.CD_void),
                        ClassFile.ACC_STATIC,
                        body -> {
                          Label end = body.newLabel();
                          body.iconst_0().ifeq(end);
                          for (int i = 0; i < count; i++) {
                            body.new_(ConstantDescs.CD_Object).pop();
                          }
                          body.labelBinding(end).return_();
                        }));
    ErrorSites far = new ErrorSites();
    byte[] changed =
        new PointTransformer(far, List.of("Far"), InjectorTest.class)
            .transform("Far", code, ClassLoader.getSystemClassLoader());
    assertTrue(changed.length > code.length, () -> far.unchanged().toString());
    assertEquals(count + 1, far.size());
  }
}
