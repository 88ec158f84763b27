package org.revenantdb.jcstress;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A jcstress test that is a weakened copy of the claim beside it and must show what the claim
 * forbids.
 *
 * <p>A claim that holds proves little until the same test, with one ordering taken away, is seen to
 * fail: only then could the test have noticed. The twin declares the bad outcome as {@code
 * ACCEPTABLE_INTERESTING}, so that jcstress itself stays green; {@code ProtocolsTest} fails where
 * the outcome does not show up.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface BrokenTwin {

  /**
   * Returns whether the test fails where the bad outcome was not seen.
   *
   * @return false, with the reason in a comment, where this processor never shows it (x86 does not
   *     reorder two stores, for instance) and only the compiler might
   */
  boolean mustShow() default true;

  /**
   * Returns whether the test is also run interpreted and as each compiler compiles it.
   *
   * @return false where it fails hundreds of times in the one short run as C2 compiles it, so that
   *     the other ways would only take time
   */
  boolean inEveryMode() default true;
}
