package org.revenantdb.chaos.inject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What changed classes count and throw. */
class InjectorTest {

  private static final String CODE = Allocating.class.getName();
  private static final List<String> ALL =
      List.of("created", "array", "objects", "cube", "boxed", "concatenated", "captured", "deep");

  private final InjectedClasses.Source source =
      new InjectedClasses.Source(Allocating.class, List.of(CODE, "!" + CODE + "$"));
  private final AtomicLong clock = new AtomicLong();

  /** The subject is never changed, so the code is loaded beside it. */
  private final InjectedClasses classes =
      new InjectedClasses.Source(InjectorTest.class, List.of(CODE)).load();

  private final ErrorSites sites = classes.sites();

  @SuppressWarnings("unchecked")
  private List<String> run(Injector injector) throws ReflectiveOperationException {
    Class<?> code = Class.forName(CODE, true, classes);
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
            "captured java.util.function.IntSupplier"),
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
        8L,
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
    assertNull(calls.get("<clinit>"));
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
  }
}
