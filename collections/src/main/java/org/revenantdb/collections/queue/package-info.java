/**
 * The parts of a queue: {@code QueueRows} has its tables and what a step does to them, {@code
 * WaitingRoom} the threads that wait for an item.
 */
package org.revenantdb.collections.queue;
