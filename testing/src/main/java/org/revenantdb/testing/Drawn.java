package org.revenantdb.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * A slow test of which there are many of one kind: a usual build runs some of those, drawn at
 * random. {@code -Plong} runs all. {@code -Drevenant.draw=SEED} draws the same again.
 *
 * <p>Each case of a parameterized test, or of a crash test, is drawn by itself. A class is drawn as
 * a whole.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(Drawn.Draw.class)
public @interface Drawn {

  /**
   * Sets how many tests are drawn.
   *
   * @return one in so many runs, on average
   */
  int oneIn();

  /** Decides. */
  final class Draw implements ExecutionCondition {
    private static final long SEED =
        Long.getLong("revenant.draw", ThreadLocalRandom.current().nextInt(1 << 30));
    private static final String CASE = "test-template-invocation";

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      int oneIn =
          AnnotationSupport.findAnnotation(context.getElement(), Drawn.class)
              .map(Drawn::oneIn)
              .orElse(1);
      String id = context.getUniqueId();
      // The cases of a test follow, and each of them is drawn.
      boolean hasCases = id.contains("[test-template:") && !id.contains("[" + CASE + ":");
      // The last digit of a seed must not decide about all tests alike.
      long name = id.hashCode();
      boolean drawn =
          hasCases || new SplittableRandom(SEED ^ name << Integer.SIZE).nextInt(oneIn) == 0;
      return drawn || Boolean.getBoolean("revenant.long")
          ? ConditionEvaluationResult.enabled("drawn by -Drevenant.draw=" + SEED)
          : ConditionEvaluationResult.disabled("not drawn by -Drevenant.draw=" + SEED);
    }
  }
}
