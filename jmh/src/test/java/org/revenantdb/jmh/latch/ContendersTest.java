package org.revenantdb.jmh.latch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.revenantdb.jmh.contend.Contender;
import org.revenantdb.jmh.contend.ContentionPoint;
import org.revenantdb.jmh.contend.ContentionResult;
import org.revenantdb.jmh.contend.ContentionRun;

/** Each measured loop ends, counts, and holds its lock while it works: a run checks that. */
class ContendersTest {
  @ParameterizedTest
  @MethodSource("contenders")
  void loop_worksWithBothKindsOfThreads(Class<? extends Contender> type)
      throws ReflectiveOperationException, InterruptedException {
    for (boolean virtual : new boolean[] {false, true}) {
      Contender contender = type.getDeclaredConstructor().newInstance();
      ContentionPoint point = new ContentionPoint(4, virtual, 1);
      ContentionResult result =
          ContentionRun.run(contender, point, 10, 0, TimeUnit.MILLISECONDS.toNanos(10));
      assertEquals(4, result.counts().size());
      assertFalse(result.metrics().isEmpty());
    }
  }

  static Stream<Class<? extends Contender>> contenders() {
    return Stream.of(Writers.class, Readers.class)
        .flatMap(holder -> Arrays.stream(holder.getDeclaredClasses()))
        .map(type -> type.<Contender>asSubclass(Contender.class));
  }
}
