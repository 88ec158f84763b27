package org.revenantdb.chaos.inject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.subject.FaultKind;

/** Targets as text, and the points that they match. */
class TargetTest {

  private static final ErrorSite PUT =
      new ErrorSite(ErrorSite.Kind.ALLOCATION, "com.acme.Store", "put", 57, "byte[]");

  @Test
  void a_target_is_read_from_its_text() {
    List<Target> targets =
        List.of(
            Target.allocation(12),
            Target.allocation(3).in("com.acme.Store.put:57").of("byte[]").errors(4),
            Target.call(9).in("com.acme.Store.<init>:1").deeperThan(40));
    for (Target target : targets) {
      assertEquals(target, Target.parse(target.toString()), target::toString);
    }
    assertEquals(
        "allocation,n=3,in=com.acme.Store.put:57,of=byte[],errors=4", targets.get(1).toString());
  }

  @Test
  void a_text_that_is_no_target_is_refused() {
    for (String text :
        List.of("", "read,n=1", "call,n=x", "call,n=0", "allocation,errors=65", "call,m=1")) {
      assertThrows(IllegalArgumentException.class, () -> Target.parse(text), text);
    }
  }

  @Test
  void points_match_by_package_class_method_line_and_allocated_class() {
    for (String part :
        List.of(
            "",
            "com.",
            "com.acme.",
            "com.acme.Store",
            "com.acme.Store.put",
            "com.acme.Store.put:57")) {
      assertTrue(Target.allocation(1).in(part).matches(PUT), part);
    }
    for (String part : List.of("com.acme", "com.acme.Store.pu", "com.acme.Store.put:5", "acme.")) {
      assertFalse(Target.allocation(1).in(part).matches(PUT), part);
    }
    assertTrue(Target.allocation(1).of("byte[]").matches(PUT));
    assertFalse(Target.allocation(1).of("byte").matches(PUT));
    assertFalse(Target.call(1).matches(PUT));
  }

  @Test
  void a_target_belongs_to_a_fault_of_the_catalogue() {
    assertEquals(FaultKind.ALLOCATION_FAILS, Target.allocation(1).fault());
    assertEquals(FaultKind.HEAP_FULL, Target.allocation(1).errors(2).fault());
    assertEquals(FaultKind.CALL_OVERFLOWS, Target.call(1).errors(2).fault());
  }
}
